"""Runs -> tables, figures and one self-contained page."""

from smoothcert.report.summary import Summary, describe_indices
from smoothcert.report.tables import common_grid, percent, print_summaries

__all__ = ["Summary", "common_grid", "describe_indices", "percent", "print_summaries"]
