"""The tables that can be made again, with about how long each takes."""

from __future__ import annotations

from typing import Any

from smoothcert.arguments import usable_cores
from smoothcert.workflows.reproducing.estimate import estimate
from smoothcert.workflows.reproducing.library import load_table, table_names
from smoothcert.workflows.reproducing.plan import make_plan
from smoothcert.workflows.reproducing.table_rules import BUDGETS

_UNITS = (("days", 86_400), ("h", 3_600), ("min", 60))


def list_tables() -> list[dict[str, Any]]:
    """Return every table: what it is about, and about how long it takes here under each budget."""
    cores, rows = usable_cores(), []
    for name in table_names():
        table = load_table(name)
        times = {budget: estimate(make_plan(table, budget)).seconds(cores) for budget in BUDGETS}
        rows.append(
            {
                "name": name,
                "data set": table.dataset,
                **{budget: about(seconds) for budget, seconds in times.items()},
                "about": f"{table.about} {table.paper}, {', '.join(table.tables)}.",
            }
        )
    return rows


def about(seconds: float) -> str:
    """Return a time in two digits at most, in a unit that suits it."""
    unit, length = next((pair for pair in _UNITS if seconds >= 2 * pair[1]), _UNITS[-1])
    return f"{float(f'{max(seconds / length, 1):.2g}'):,.0f} {unit}"
