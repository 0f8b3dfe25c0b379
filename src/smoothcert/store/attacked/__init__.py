"""What attacks found: their results, and the record of them."""
