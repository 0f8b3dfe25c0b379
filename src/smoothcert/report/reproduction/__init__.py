"""Published figures beside those that were made again."""
