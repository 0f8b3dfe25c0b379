"""The table of what models cost, beside the single network that papers compare ensembles with."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.report.paper.cost_columns import COLUMNS, OF_RUNS, PASSES, CostColumn
from smoothcert.report.paper.costs import ModelCost, drawn_together
from smoothcert.report.paper.paper_table import PaperTable, cells_of

_UNKNOWN = "–"


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
        for column in COLUMNS
        if not (together and column.key in OF_RUNS) and (spares or column.heading != PASSES)
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


def _factor(column: CostColumn, cost: ModelCost, single: ModelCost | None) -> float | None:
    value, one = column.value(cost), None if single is None else column.value(single)
    return None if value is None or not one else value / one


def _shown(value: float | None, show: Callable[[float], str]) -> str:
    return _UNKNOWN if value is None else show(value)


def _record(
    cost: ModelCost, columns: Sequence[CostColumn], factors: Sequence[CostColumn], single: ModelCost | None
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
    costs: Sequence[ModelCost],
    columns: Sequence[CostColumn],
    single: ModelCost | None,
    together: Sequence[str],
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
    lonely = [cost.name for cost in costs if not cost.runs]
    if lonely:
        yield f"No run to compare, so no ACR and no speed: {', '.join(lonely)}."
