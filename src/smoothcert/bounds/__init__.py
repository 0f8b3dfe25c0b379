"""Counts -> probabilities with error control: pure functions, no torch, no I/O."""

from smoothcert.bounds.boundary import Boundary, Operation, operate
from smoothcert.bounds.clopper_pearson import clopper_pearson_lower, clopper_pearson_upper
from smoothcert.bounds.group_sequential import (
    SpendingTable,
    crossing_probability,
    final_votes,
    geometric_looks,
    group_sequential_table,
)
from smoothcert.bounds.sequential import (
    confidence_sequence_lower,
    confidence_sequence_upper,
    log_evidence_above,
    log_evidence_below,
    sequential_boundary,
)

__all__ = [
    "Boundary",
    "Operation",
    "SpendingTable",
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
    "sequential_boundary",
]
