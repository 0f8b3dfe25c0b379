"""A paper's table -> the same table made again."""
