"""How votes are drawn for many requests at once."""
