"""Networks that differ in depth or width only: their builders, and the blocks they share."""
