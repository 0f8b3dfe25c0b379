"""Losses and what else several objectives share."""
