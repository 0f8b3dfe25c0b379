"""The columns of a table of what models cost: where each figure comes from, how it is shown, what it means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smoothcert.report.paper.costs import ModelCost
from smoothcert.report.tables.duration import show_duration
from smoothcert.rounding import floor_digits

PASSES = "passes"  # shown where some model spares members
OF_RUNS = ("votes_per_worker_second", "worker_seconds_per_image")
_ROUNDS_UP = 0.9995  # of a unit: three digits of it are 1.00
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class CostColumn:
    """A heading, the figure below it, how it is shown, its name for a machine, and what it means.

    Args:
        heading: in the table.
        key: in records.
        value: of a model; None where it is not known.
        show: a known value as text.
        says: what the heading means; empty where it needs no words.
        is_factor: also shown relative to the single network.
    """

    heading: str
    key: str
    value: Callable[[ModelCost], float | None]
    show: Callable[[float], str]
    says: str = ""
    is_factor: bool = False


def with_unit(value: float) -> str:
    """Return a number with three digits and k, M or G."""
    unit, name = next((one for one in _UNITS if value >= _ROUNDS_UP * one[0]), (1.0, ""))
    return f"{three_digits(value / unit)}{name}"


def three_digits(value: float) -> str:
    """Return a number with three digits, or all those before the point, and no exponent where people read it."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.3g}"


COLUMNS = (
    CostColumn("networks", "networks", lambda c: len(c.folder.networks), lambda v: f"{v:.0f}"),
    CostColumn("heads", "heads", lambda c: c.folder.heads, lambda v: f"{v:.0f}", "Heads: of each network."),
    CostColumn(
        "ACR",
        "acr",
        lambda c: c.acr,
        lambda v: floor_digits(v, 4),
        "ACR: mean over the model's runs, rounded down.",
    ),
    CostColumn("parameters", "parameters", lambda c: c.parameters, with_unit, is_factor=True),
    CostColumn(
        "mult-adds",
        "multiply_adds",
        lambda c: c.multiply_adds,
        with_unit,
        "Mult-adds: of one image's pass through all members, matrix work only; papers call them FLOPs.",
        is_factor=True,
    ),
    CostColumn(
        PASSES,
        "evaluations_per_vote",
        lambda c: c.passes,
        lambda v: f"{v:.2f}",
        "Passes: evaluations per vote that the runs counted, of networks or heads; mult-adds are those of all members.",
    ),
    CostColumn(
        "weights (MB)",
        "weight_bytes",
        lambda c: c.weight_bytes,
        lambda v: three_digits(v / 1e6),
        "Weights: parameters and statistics of batch norms in memory, millions of bytes.",
    ),
    CostColumn(
        "train (MB)",
        "training_peak_memory_mb",
        lambda c: c.folder.peak_memory_mb,
        lambda v: f"{v:,.0f}",
        "Train (MB): peak memory of the training process, largest of its networks, which are trained one at a time. "
        "The memory of a forward pass is not recorded.",
    ),
    CostColumn(
        "s/epoch",
        "training_seconds_per_epoch",
        lambda c: c.folder.seconds_per_epoch,
        three_digits,
        "s/epoch, training: seconds that the cards tell, added up over networks, as if trained one after the other.",
    ),
    CostColumn("training", "training_seconds", lambda c: c.folder.seconds, show_duration, is_factor=True),
    CostColumn(
        "votes/s",
        "votes_per_worker_second",
        lambda c: c.votes_per_second,
        lambda v: f"{v:,.0f}",
        "votes/s, s/image: votes and images per second of one worker, as the runs recorded them on their machine.",
    ),
    CostColumn(
        "s/image",
        "worker_seconds_per_image",
        lambda c: c.seconds_per_image,
        three_digits,
        is_factor=True,
    ),
)
