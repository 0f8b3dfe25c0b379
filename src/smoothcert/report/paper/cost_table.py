"""The table of what models cost, beside the single network that papers compare ensembles with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.paper.costs import ModelCost, drawn_together
from smoothcert.report.paper.paper_table import PaperTable, cells_of
from smoothcert.report.tables.duration import show_duration
from smoothcert.rounding import floor_digits

_UNKNOWN = "–"
_PASSES = "passes"  # shown where some model spares members
_UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


@dataclass(frozen=True)
class _Column:
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


def _size(value: float) -> str:
    """Return a number with three digits and a unit."""
    for unit, name in _UNITS:
        if value >= unit:
            return f"{value / unit:.3g}{name}" if value < 1000 * unit else f"{value / unit:,.0f}{name}"
    return f"{value:.0f}"


_COLUMNS = (
    _Column("networks", "networks", lambda c: len(c.folder.networks), lambda v: f"{v:.0f}"),
    _Column("heads", "heads", lambda c: c.folder.heads, lambda v: f"{v:.0f}", "Heads: of each network."),
    _Column(
        "ACR",
        "acr",
        lambda c: c.acr,
        lambda v: floor_digits(v, 4),
        "ACR: mean over the model's runs, rounded down.",
    ),
    _Column("parameters", "parameters", lambda c: c.parameters, _size, is_factor=True),
    _Column(
        "mult-adds",
        "multiply_adds",
        lambda c: c.multiply_adds,
        _size,
        "Mult-adds: of one image's pass through all members, matrix work only; papers call them FLOPs.",
        is_factor=True,
    ),
    _Column(
        _PASSES,
        "evaluations_per_vote",
        lambda c: c.passes,
        lambda v: f"{v:.2f}",
        "Passes: evaluations per vote that the runs counted, of networks or heads; mult-adds are those of all members.",
    ),
    _Column(
        "weights (MB)",
        "weight_bytes",
        lambda c: c.weight_bytes,
        lambda v: f"{v / 1e6:.3g}",
        "Weights: parameters and statistics of batch norms in memory, millions of bytes.",
    ),
    _Column(
        "train (MB)",
        "training_peak_memory_mb",
        lambda c: c.folder.peak_memory_mb,
        lambda v: f"{v:,.0f}",
        "Train (MB): peak memory of the training process, largest of its networks, which are trained one at a time. "
        "The memory of a forward pass is not recorded.",
    ),
    _Column(
        "s/epoch",
        "training_seconds_per_epoch",
        lambda c: c.folder.seconds_per_epoch,
        lambda v: f"{v:.3g}",
        "s/epoch, training: seconds that the cards tell, added up over networks, as if trained one after the other.",
    ),
    _Column("training", "training_seconds", lambda c: c.folder.seconds, show_duration, is_factor=True),
    _Column(
        "votes/s",
        "votes_per_worker_second",
        lambda c: c.votes_per_second,
        lambda v: f"{v:,.0f}",
        "votes/s, s/image: votes and images per second of one worker, as the runs recorded them on their machine.",
    ),
    _Column(
        "s/image",
        "worker_seconds_per_image",
        lambda c: c.seconds_per_image,
        lambda v: f"{v:.3g}",
        is_factor=True,
    ),
)


def cost_table(costs: Sequence[ModelCost]) -> PaperTable:
    """Return one row per model; parameters, work, training and certification also as factors of the single network.

    The single network is the first model that is one network with one head; without one there are no factors.

    Args:
        costs: what `model_costs` returned, at least one.
    """
    if not costs:
        raise InvalidArgumentError(
            "a table of costs needs at least one model folder, and the runs note none that is there; give it by --model"
        )
    together = [one.name for one in drawn_together([run for cost in costs for run in cost.runs])]
    spares = any(cost.exits_early for cost in costs)
    timed = [
        column
        for column in _COLUMNS
        if not (together and column.key in _OF_RUNS) and (spares or column.heading != _PASSES)
    ]
    columns = [column for column in timed if any(column.value(cost) is not None for cost in costs)]
    single = next((cost for cost in costs if cost.is_single), None)
    factors = (
        [column for column in columns if column.is_factor] if single is not None and len(costs) > 1 else []
    )
    heads = ["model", *(c.heading for c in columns), *(f"× {c.heading}" for c in factors)]
    rows = [
        [
            cost.name,
            *(_shown(column.value(cost), column.show) for column in columns),
            *(_shown(_factor(column, cost, single), lambda v: f"{v:.2f}") for column in factors),
        ]
        for cost in costs
    ]
    return PaperTable(
        title="Cost of models",
        columns=tuple(heads),
        blocks=(tuple(cells_of(row) for row in rows),),
        notes=tuple(_notes(costs, columns, single if factors else None, together)),
        records=tuple(_record(cost, columns, factors, single) for cost in costs),
    )


_OF_RUNS = ("votes_per_worker_second", "worker_seconds_per_image")


def _factor(column: _Column, cost: ModelCost, single: ModelCost | None) -> float | None:
    value, one = column.value(cost), None if single is None else column.value(single)
    return None if value is None or not one else value / one


def _shown(value: float | None, show: Callable[[float], str]) -> str:
    return _UNKNOWN if value is None else show(value)


def _record(
    cost: ModelCost, columns: Sequence[_Column], factors: Sequence[_Column], single: ModelCost | None
) -> dict[str, Any]:
    return {
        "model": cost.name,
        "folder": str(cost.folder.path),
        "digest": cost.folder.card.digest,
        "trained": cost.folder.method,
        "runs": len(cost.runs),
        **{column.key: column.value(cost) for column in columns},
        **{f"{column.key}_factor": _factor(column, cost, single) for column in factors},
    }


def _notes(
    costs: Sequence[ModelCost], columns: Sequence[_Column], single: ModelCost | None, together: Sequence[str]
) -> Iterator[str]:
    """Yield what the headings mean, and what is missing."""
    yield from (column.says for column in columns if column.says)
    if single is not None:
        yield f"×: relative to the single network, {single.name}."
    if together:
        yield (
            f"No votes/s: {', '.join(together)} were certified by the same forward passes, so each of them has the "
            "time of all; certify them one by one to compare speed."
        )
    engines = {str(run.manifest["engine"]) for cost in costs for run in cost.runs}
    if len(engines) > 1 and not together:
        names = ", ".join(sorted(engines))
        yield f"The runs used different engines ({names}), so their speeds are not of the models alone."
    for cost in costs:
        if cost.fault:
            yield f"{cost.name}: size not counted: {cost.fault}."
        if cost.folder.is_fine_tuned:
            yield f"{cost.name} was fine-tuned: the training of its members before that is not counted."
        if cost.others:
            names = ", ".join(one.name for one in cost.others)
            yield f"{cost.name}: not counted, because others have no run under their settings: {names}."
        if not cost.runs:
            yield f"{cost.name}: no run of it to compare, so no ACR and no speed."
