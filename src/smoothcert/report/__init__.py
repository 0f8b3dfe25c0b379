"""Runs -> tables, figures and one self-contained page."""

from smoothcert.report.cost import consensus_rate, returned_by_phase, sample_reduction, time_reduction
from smoothcert.report.figures.curves import (
    attack_figure,
    certified_accuracy_figure,
    p_hat_figure,
    votes_figure,
)
from smoothcert.report.figures.images_figure import images_figure
from smoothcert.report.figures.style import figure_svg, save_figure
from smoothcert.report.figures.variance_figures import write_variance_figures
from smoothcert.report.members import member_curves, members_to_json
from smoothcert.report.page.page import write_report
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import percent
from smoothcert.report.tables.attack_table import attack_to_json, print_attack
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.cost_columns import time_factor
from smoothcert.report.tables.listings import LISTINGS, Listing, print_listing
from smoothcert.report.tables.per_input_table import per_input_to_json, print_per_input
from smoothcert.report.tables.preview_table import print_preview
from smoothcert.report.tables.recipe_sources import print_sources
from smoothcert.report.tables.summaries import common_grid, print_summaries
from smoothcert.report.tables.sweep_table import SweepRow, print_sweep
from smoothcert.report.tables.terminal import print_tables, say
from smoothcert.report.tables.variance_tables import print_variance, variance_to_json
from smoothcert.report.wording import describe_indices

__all__ = [
    "LISTINGS",
    "Listing",
    "Summary",
    "SweepRow",
    "attack_figure",
    "attack_to_json",
    "certified_accuracy_figure",
    "common_grid",
    "consensus_rate",
    "describe_indices",
    "figure_svg",
    "images_figure",
    "make_table",
    "member_curves",
    "members_to_json",
    "p_hat_figure",
    "per_input_to_json",
    "percent",
    "print_attack",
    "print_listing",
    "print_per_input",
    "print_preview",
    "print_sources",
    "print_summaries",
    "print_sweep",
    "print_tables",
    "print_variance",
    "returned_by_phase",
    "sample_reduction",
    "save_figure",
    "say",
    "time_factor",
    "time_reduction",
    "variance_to_json",
    "votes_figure",
    "write_report",
    "write_variance_figures",
]
