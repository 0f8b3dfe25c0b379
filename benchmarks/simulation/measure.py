"""Measure what simulation needs, and real runs to hold it against: `python -m benchmarks.simulation.measure [PART]`.

Parts are "speeds", "driver", "workers" and "crowds"; all by default, about six minutes. Each writes its share of
`benchmarks/results/capacity.json`, with how busy the machine was before.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.report import read_summary, write_summary
from benchmarks.simulation.measuring.crowds import measured_crowds
from benchmarks.simulation.measuring.driver import measured_driver
from benchmarks.simulation.measuring.speeds import measured_speeds
from benchmarks.simulation.measuring.workers import measured_workers

RESULTS = Path(__file__).parents[1] / "results" / "capacity.json"
PARTS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "speeds": measured_speeds,
    "driver": measured_driver,
    "workers": measured_workers,
    "crowds": measured_crowds,
}


def main(only: str | None) -> None:
    """Measure the parts, each with what those before it found."""
    if only is not None and only not in PARTS:
        sys.exit(f"unknown part {only!r}; known: {', '.join(PARTS)}")
    found = read_summary(RESULTS)
    for name in (only,) if only else PARTS:
        load, start = machine.busy_cores(), time.perf_counter()
        if warning := machine.load_warning(load):
            print(warning, flush=True)
        figures = PARTS[name](found["parts"])
        seconds = time.perf_counter() - start
        made = datetime.now(UTC).isoformat(timespec="seconds")
        found["parts"][name] = {"made": made, "load_before": load, "seconds": seconds, **figures}
        found["machine"] = machine.describe()
        write_summary(RESULTS, found)
        print(f"[{name}: {seconds:.0f} s]", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else None)
