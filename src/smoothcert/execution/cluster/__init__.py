"""Votes drawn by the workers of a Ray cluster."""
