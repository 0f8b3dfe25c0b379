"""What must hold between the parts of a table file."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, Literal, get_args

from smoothcert.certificates import PROCEDURES
from smoothcert.report import FIGURES

if TYPE_CHECKING:
    from smoothcert.workflows.reproducing.table_file import Part, Row, TableFile

BudgetName = Literal["minutes", "hours", "paper"]
BUDGETS: tuple[str, ...] = get_args(BudgetName)
"""Names of the budgets, the cheapest first."""


def refuse_inconsistent(table: TableFile) -> None:
    """Refuse a table that names what it does not have; pydantic tells the sentence.

    Args:
        table: whose fields are right one by one.
    """
    for fault in _faults(table):
        raise ValueError(fault)


def _faults(table: TableFile) -> Iterator[str]:
    for name, budget in table.budgets.items():
        yield from _unknown(f"budget {name}: part", budget.parts or (), table.parts)
        yield from _unknown(f"budget {name}: network", budget.networks, table.networks)
        starts = [layer["start"] for layer in budget.networks.values() if "start" in layer]
        yield from _unknown(f"budget {name}: start", starts, table.networks)
        yield from (
            f"budget {name}: start {one!r} begins with another network itself"
            for one in starts
            if "start" in budget.networks.get(one, {})
        )
        rows = {row for part in table.parts.values() for row in part.rows}
        yield from _unknown(f"budget {name}: row", (*budget.leave_out, *budget.int8), rows)
    paper = table.budgets["paper"]
    changes = (paper.training, paper.networks, paper.grid, paper.int8)
    if any((paper.parts, paper.leave_out, paper.most_members, *changes)):
        yield "budget paper leaves nothing out and changes no training"
    for place, part in table.parts.items():
        if list(part.radii) != sorted(set(part.radii)):
            yield f"part {place}: radii must increase"
        yield from _unknown(f"part {place}: baseline", [part.baseline] if part.baseline else (), part.rows)
        for label, row in part.rows.items():
            yield from (f"part {place}, row {label}: {fault}" for fault in _row_faults(row, part, table))
    told = {
        one
        for part in table.parts.values()
        for row in part.rows.values()
        for one in _tables(row, part, table)
    }
    yield from (f"table {one!r} is covered by no row" for one in table.tables if one not in told)
    yield from _unknown("rows are of table", told, table.tables)


def _row_faults(row: Row, part: Part, table: TableFile) -> Iterator[str]:
    yield from _unknown("network", row.members, table.networks)
    yield from _unknown("figure", row.wanted, FIGURES)
    yield from _unknown("procedure", [row.procedure], PROCEDURES)
    yield from _unknown("reference", [row.reference] if row.reference else (), part.rows)
    if "time_reduction" in row.wanted and row.reference is None:
        yield "time_reduction needs a reference"
    if row.radius is not None and row.radius not in part.radii:
        yield f"its radius {row.radius:g} is none of the part's radii"
    most = 1 if row.radius is not None else len(part.radii)
    if len(row.published.accuracy) > most:
        yield f"{len(row.published.accuracy)} accuracies for {most} radii"
    if row.published.log is not None and len(row.published.log.accuracy) != len(part.radii):
        yield f"the log has {len(row.published.log.accuracy)} accuracies for {len(part.radii)} radii"
    if row.envelope and (row.is_network or row.fit or row.early_exit or row.radius is not None):
        yield "an envelope is of several members and has nothing else"
    if row.is_network and (row.rule or row.fit or row.early_exit or row.order_by_holdout):
        yield "a network alone has no rule, weights, exit or order"


def _tables(row: Row, part: Part, table: TableFile) -> tuple[str, ...]:
    return row.tables or part.tables or table.tables


def _unknown(what: str, names: Iterable[str], known: Container[str]) -> Iterator[str]:
    return (f"{what} {name!r} is unknown" for name in names if name not in known)
