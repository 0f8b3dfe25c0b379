from .boundary import Boundary, Operation, binomial_law, operate
from .class_choice import shared_vote_level, wrong_class_factor
from .clopper_pearson import (
    MOST_TRIALS,
    check_level,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from .group_sequential import (
    SpendingTable,
    crossing_probability,
    final_votes,
    geometric_looks,
    group_sequential_table,
)
from .paired_difference import MOST_PAIRS, paired_difference_interval
from .runner_up import runner_up_bounds
from .sequential import (
    confidence_sequence_lower,
    confidence_sequence_upper,
    log_evidence_above,
    log_evidence_below,
    sequential_boundary,
)
from .staged import staged_boundary
from .two_way import two_way_p_value

__all__ = [
    "MOST_PAIRS",
    "MOST_TRIALS",
    "Boundary",
    "Operation",
    "SpendingTable",
    "binomial_law",
    "check_level",
    "clopper_pearson_lower",
    "clopper_pearson_upper",
    "confidence_sequence_lower",
    "confidence_sequence_upper",
    "crossing_probability",
    "final_votes",
    "geometric_looks",
    "group_sequential_table",
    "log_evidence_above",
    "log_evidence_below",
    "operate",
    "paired_difference_interval",
    "runner_up_bounds",
    "sequential_boundary",
    "shared_vote_level",
    "staged_boundary",
    "two_way_p_value",
    "wrong_class_factor",
]
