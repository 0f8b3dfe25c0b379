"""Runs -> tables, figures and one self-contained page."""

from smoothcert.report.attack_table import attack_to_json, print_attack
from smoothcert.report.cost import consensus_rate, returned_by_phase, sample_reduction, time_reduction
from smoothcert.report.cost_columns import time_factor
from smoothcert.report.figures import attack_figure, certified_accuracy_figure, p_hat_figure, votes_figure
from smoothcert.report.images_figure import images_figure
from smoothcert.report.listings import LISTINGS, print_listing
from smoothcert.report.members import member_curves, members_to_json
from smoothcert.report.page import write_report
from smoothcert.report.preview_table import print_preview
from smoothcert.report.recipe_sources import print_sources
from smoothcert.report.style import figure_svg, save_figure
from smoothcert.report.summary import Summary, describe_indices
from smoothcert.report.tables import common_grid, percent, print_summaries
from smoothcert.report.terminal import make_table, print_tables, say

__all__ = [
    "LISTINGS",
    "Summary",
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
    "percent",
    "print_attack",
    "print_listing",
    "print_preview",
    "print_sources",
    "print_summaries",
    "print_tables",
    "returned_by_phase",
    "sample_reduction",
    "save_figure",
    "say",
    "time_factor",
    "time_reduction",
    "votes_figure",
    "write_report",
]
