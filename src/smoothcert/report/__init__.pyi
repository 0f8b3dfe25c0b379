from .comparing.compare import compare, compare_summaries
from .comparing.comparison import Comparison, RadiusDifference
from .comparing.comparison_json import comparison_to_json
from .cost import consensus_rate, returned_by_phase, sample_reduction, time_reduction
from .figures.curves import (
    attack_figure,
    certified_accuracy_figure,
    p_hat_figure,
    votes_figure,
)
from .figures.style import figure_svg, save_figure
from .figures.variance_figures import write_variance_figures
from .members import member_curves, members_to_json
from .names import named_paths
from .page.page import write_report
from .page.repeat_command import repeat_command, resume_command
from .paper.costs import ModelCost, model_costs
from .paper.groups import group_runs
from .paper.model_folders import find_folders, folder_of, read_folders
from .paper.paper_figures import write_paper_figures
from .paper.paper_files import PaperOrder, costs_beside, model_table, write_paper
from .paper.paper_table import PaperTable
from .paper.run_table import run_table
from .paper.seed_group import SeedGroup
from .reproduction.figures import FIGURES, Evidence
from .reproduction.files import print_reproduction, rows_written, write_reproduction
from .reproduction.orders import Order, Verdict
from .reproduction.reproduction import ReproducedPart, Reproduction
from .reproduction.reproduction_tables import reproduction_tables
from .reproduction.row import Published, ReproducedRow
from .summary import Summary
from .tables.accuracy_cells import percent
from .tables.attack_table import attack_to_json, print_attack
from .tables.blocks import make_table
from .tables.comparison_table import print_comparison
from .tables.cost_columns import time_factor, time_reference
from .tables.description_lines import describe_lines
from .tables.listings import LISTINGS, Listing, print_listing
from .tables.paper_tables import print_paper_table
from .tables.per_input_table import per_input_to_json, print_per_input
from .tables.preview_table import print_preview
from .tables.recipe_sources import print_sources
from .tables.status_lines import status_lines, status_to_json
from .tables.summaries import common_grid, given_grid, print_summaries
from .tables.sweep_table import SweepRow, print_sweep
from .tables.terminal import print_tables, say
from .tables.variance_tables import print_variance, variance_to_json
from .wording import describe_indices, failed_text

__all__ = [
    "FIGURES",
    "LISTINGS",
    "Comparison",
    "Evidence",
    "Listing",
    "ModelCost",
    "Order",
    "PaperOrder",
    "PaperTable",
    "Published",
    "RadiusDifference",
    "ReproducedPart",
    "ReproducedRow",
    "Reproduction",
    "SeedGroup",
    "Summary",
    "SweepRow",
    "Verdict",
    "attack_figure",
    "attack_to_json",
    "certified_accuracy_figure",
    "common_grid",
    "compare",
    "compare_summaries",
    "comparison_to_json",
    "consensus_rate",
    "costs_beside",
    "describe_indices",
    "describe_lines",
    "failed_text",
    "figure_svg",
    "find_folders",
    "folder_of",
    "given_grid",
    "group_runs",
    "make_table",
    "member_curves",
    "members_to_json",
    "model_costs",
    "model_table",
    "named_paths",
    "p_hat_figure",
    "per_input_to_json",
    "percent",
    "print_attack",
    "print_comparison",
    "print_listing",
    "print_paper_table",
    "print_per_input",
    "print_preview",
    "print_reproduction",
    "print_sources",
    "print_summaries",
    "print_sweep",
    "print_tables",
    "print_variance",
    "read_folders",
    "repeat_command",
    "reproduction_tables",
    "resume_command",
    "returned_by_phase",
    "rows_written",
    "run_table",
    "sample_reduction",
    "save_figure",
    "say",
    "status_lines",
    "status_to_json",
    "time_factor",
    "time_reduction",
    "time_reference",
    "variance_to_json",
    "votes_figure",
    "write_paper",
    "write_paper_figures",
    "write_report",
    "write_reproduction",
    "write_variance_figures",
]
