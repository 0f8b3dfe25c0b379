"""Figures of runs and of the variance theory."""
