"""What one step of a training is made of: images, noise, the moment, and numbers rounded as if in int8."""
