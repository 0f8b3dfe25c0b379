"""Run the benchmark: `python -m benchmarks.run [--quick] [--only PART]`; `make bench` runs all of it."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks import machine, settings
from benchmarks.report import read_summary, replace_results, write_rows, write_summary
from smoothcert.atomic import write_atomically

FOLDER = Path(__file__).parent
PARTS = (
    "speed",
    "int8",
    "anatomy",
    "adaptive",
    "wall_clock",
    "votes",
    "memory",
    "startup",
    "page",
    "linear",
    "grid",
    "noise",
    "training",
    "bfloat16",
    "heads",
    "ensembles",
    "cluster",
    "serving",
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts asked for, print their tables and write the results."""
    options = _options(arguments)
    sizes = settings.quick(options.engine) if options.quick else settings.full(options.engine)
    out = options.out or (FOLDER / "results" / "quick" if options.quick else FOLDER / "results")
    out.mkdir(parents=True, exist_ok=True)
    load = machine.busy_cores()
    if warning := machine.load_warning(load):
        print(warning, flush=True)
    machine.use_default_threads()
    summary = read_summary(out / "summary.json")
    summary["machine"] = machine.describe()
    for name in (options.only,) if options.only else PARTS:
        start = time.perf_counter()
        part = import_module(f"benchmarks.{name}").run(sizes)
        seconds = time.perf_counter() - start
        write_rows(out / f"{name}.csv", part.rows)
        summary["parts"][name] = {
            "made": datetime.now(UTC).isoformat(timespec="seconds"),
            "load_before": load,
            "quick": options.quick,
            "seconds": seconds,
            **part.summary,
        }
        write_summary(out / "summary.json", summary)
        print(f"\n{_render(name, summary['parts'][name])}\n\n[{name}: {seconds:.0f} s]\n", flush=True)
    if not options.quick and options.out is None:
        page = FOLDER / "README.md"
        write_atomically(page, replace_results(page.read_text(), results_page(summary)))
    print(f"raw results and summary in {out}")


def results_page(summary: dict[str, Any]) -> str:
    """Return the section of the README that is made from a summary, parts in their fixed order."""
    about = summary["machine"]
    versions = ", ".join(f"{name} {number}" for name, number in about["versions"].items() if number)
    parts = {name: summary["parts"][name] for name in PARTS if name in summary["parts"]}
    lines = [f"{about['cpu']}, {about['cores']} cores, {about['memory_gb']} GB; {versions}."]
    made = [
        f"{name} {part['made'][:10]} with {part['load_before']:.2f} cores busy"
        for name, part in parts.items()
    ]
    lines.append(f"Made: {', '.join(made)}. Ratios are medians over rounds, with the smallest and largest.")
    warnings = {machine.load_warning(part["load_before"]) for part in parts.values()} - {None}
    lines += [f"**{warning}**" for warning in sorted(str(w) for w in warnings)]
    return "\n\n".join([*lines, *(_render(name, part) for name, part in parts.items())])


def _render(name: str, part: dict[str, Any]) -> str:
    return str(import_module(f"benchmarks.{name}").render(part))


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes: shows that it works, proves nothing"
    )
    parser.add_argument("--only", choices=PARTS, help="one part; the others keep their last results")
    parser.add_argument("--engine", default="auto", help="our engine: auto, torch, onnx or compiled")
    parser.add_argument("--out", type=Path, help="folder for results; then the README is left alone")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
