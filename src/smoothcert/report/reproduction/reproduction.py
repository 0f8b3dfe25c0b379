"""A paper's table made again: its parts, what was scaled down, and what came out."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from smoothcert.amounts import amount
from smoothcert.options import listed
from smoothcert.report.comparing.compare import compare_summaries
from smoothcert.report.comparing.comparison import Comparison
from smoothcert.report.reproduction.orders import Order, Verdict, published_orders
from smoothcert.report.reproduction.row import ReproducedRow
from smoothcert.report.summary import CONFIDENCE

_MOST_NAMED = 6  # orders that a sentence names


@dataclass(frozen=True)
class ReproducedPart:
    """Rows that can be compared with each other: one noise, one data set, the same images.

    Args:
        name: such as sigma-0.5.
        radii: at which the paper gives certified accuracy, in pixel units.
        rows: those that were made again.
        baseline: name of the row that others are compared with; None for none.
    """

    name: str
    radii: tuple[float, ...]
    rows: tuple[ReproducedRow, ...]
    baseline: str | None = None

    @cached_property
    def orders(self) -> tuple[Order, ...]:
        """What became of the published orders of ACR."""
        return published_orders(self.rows)

    @cached_property
    def against_baseline(self) -> dict[str, Comparison]:
        """The paired comparisons with the baseline, by the names of the rows that can be compared with it."""
        base = self.baseline_row
        if base is None:
            return {}
        others = [row for row in self.rows if row is not base and not row.is_envelope]
        return {
            row.name: compare_summaries(
                base.summary, row.summary, radii=self.radii, confidence=CONFIDENCE, common=False
            )
            for row in others
            if row.summary.asked == base.summary.asked
        }

    @property
    def baseline_row(self) -> ReproducedRow | None:
        """The row that others are compared with, if it was made again."""
        return next((row for row in self.rows if row.name == self.baseline), None)


@dataclass(frozen=True)
class Reproduction:
    """A paper's table made again. Not the paper's experiment unless nothing was scaled down.

    Args:
        name: of the table here.
        paper: where it was published.
        tables: of the paper.
        budget: name of the budget.
        parts: what was made again.
        scaled_down: sentences on what differs from the paper's settings; empty where nothing does.
        deviations: sentences on what differs from the paper whatever the budget.
    """

    name: str
    paper: str
    tables: tuple[str, ...]
    budget: str
    parts: tuple[ReproducedPart, ...]
    scaled_down: tuple[str, ...]
    deviations: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """What was reproduced, what was scaled down, and which orders came out, a sentence each."""
        rows = amount(sum(len(part.rows) for part in self.parts), "row")
        places = ", ".join(part.name for part in self.parts)
        first = f"Reproduced: {self.paper}, {listed(self.tables)}: {rows} ({places}), budget {self.budget}."
        scaled = "; ".join(self.scaled_down)
        down = f"Scaled down: {scaled}." if scaled else "Nothing was scaled down from the paper's settings."
        return first, down, self.orders_line

    @property
    def orders_line(self) -> str:
        """How many of the published orders of ACR came out, and which did not."""
        pairs = [(part, order) for part in self.parts for order in part.orders]
        if not pairs:
            return "No two rows have different published ACRs, so there is no order to come out."
        count = {verdict: [p for p in pairs if p[1].verdict is verdict] for verdict in Verdict}
        came = len(count[Verdict.CLEAR]) + len(count[Verdict.LEANING])
        clear = (
            f", {len(count[Verdict.CLEAR])} of them with a paired 95% interval that excludes 0"
            if came
            else ""
        )
        text = f"{came} of {amount(len(pairs), 'published order')} of ACR among these rows came out{clear}"
        if came == len(pairs):
            return f"{text}."
        wrong, still_open = count[Verdict.CONTRADICTED], count[Verdict.OPEN]
        text += f"; of the others, {len(wrong)} with an interval that excludes the published order"
        named = [self._named(part, order) for part, order in (*wrong, *still_open)]
        more = len(named) - _MOST_NAMED
        return f"{text}: {', '.join(named[:_MOST_NAMED])}{f' and {more} more' if more > 0 else ''}."

    def _named(self, part: ReproducedPart, order: Order) -> str:
        where = "" if len(self.parts) == 1 else f"{part.name} "
        return f"{where}{order.better} over {order.worse} ({order.own:+.4f})"

    def to_json(self) -> dict[str, Any]:
        """Return plain values, unrounded."""
        return {
            "name": self.name,
            "paper": self.paper,
            "tables": list(self.tables),
            "budget": self.budget,
            "scaled_down": list(self.scaled_down),
            "deviations": list(self.deviations),
            "conclusion": self.orders_line,
            "parts": [
                {
                    "name": part.name,
                    "baseline": part.baseline,
                    "radii": list(part.radii),
                    "rows": [row.to_json(part.radii) for row in part.rows],
                    "orders": [order.to_json() for order in part.orders],
                }
                for part in self.parts
            ],
        }
