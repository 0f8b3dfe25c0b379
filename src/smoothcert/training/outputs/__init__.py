"""What a training leaves in its folder: metrics of its epochs, and a state to continue from until it is done."""
