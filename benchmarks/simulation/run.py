"""Simulate clusters by measured costs, and make the figure and tables of docs/capacity.md: `make simulate`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from benchmarks.report import replace_results
from benchmarks.simulation.cells import Cells
from benchmarks.simulation.figure import draw
from benchmarks.simulation.measure import RESULTS
from benchmarks.simulation.page import results
from smoothcert.atomic import write_atomically

PAGE = Path(__file__).parents[2] / "docs" / "capacity.md"
SIMULATED = RESULTS.with_name("simulation.json")


def main() -> None:
    """Simulate everything and write what came of it."""
    if not RESULTS.exists():
        sys.exit(
            f"{RESULTS} is not there; `python -m benchmarks.simulation.measure` makes it in some minutes"
        )
    measured = json.loads(RESULTS.read_text())
    cells = Cells(measured["parts"]).all()
    write_atomically(SIMULATED, json.dumps(cells, indent=1) + "\n")
    draw(cells)
    write_atomically(PAGE, replace_results(PAGE.read_text(), results(measured, cells)))


if __name__ == "__main__":
    main()
