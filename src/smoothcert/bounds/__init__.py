"""Counts -> probabilities with error control: pure functions, no torch, no I/O."""

from smoothcert.bounds.boundary import Boundary, Operation, binomial_law, operate
from smoothcert.bounds.class_choice import shared_vote_level, wrong_class_factor
from smoothcert.bounds.clopper_pearson import (
    MOST_TRIALS,
    check_level,
    clopper_pearson_lower,
    clopper_pearson_upper,
)
from smoothcert.bounds.group_sequential import (
    SpendingTable,
    crossing_probability,
    final_votes,
    geometric_looks,
    group_sequential_table,
)
from smoothcert.bounds.runner_up import runner_up_bounds
from smoothcert.bounds.sequential import (
    confidence_sequence_lower,
    confidence_sequence_upper,
    log_evidence_above,
    log_evidence_below,
    sequential_boundary,
)
from smoothcert.bounds.staged import staged_boundary
from smoothcert.bounds.two_way import two_way_p_value

__all__ = [
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
    "runner_up_bounds",
    "sequential_boundary",
    "shared_vote_level",
    "staged_boundary",
    "two_way_p_value",
    "wrong_class_factor",
]
