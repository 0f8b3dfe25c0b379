"""What commands say about what they made."""
