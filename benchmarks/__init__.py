"""Measured comparisons with named rivals: `python -m benchmarks.run`. Not part of the package."""
