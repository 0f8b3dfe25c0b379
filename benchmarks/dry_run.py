"""The cost preview against the run it speaks of: votes per image and time must lie in the printed range.

By hand, because it takes minutes and reads the clock: `python -m benchmarks.dry_run MODEL .. [--first N]`, with model
folders of any data set that needs no download or lies in its usual place. Two procedures each.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import smoothcert as sc

PROCEDURES = ("group --radius {r}", "sequential --radii 0,{r}")
_ROW = re.compile(
    r"^ *(?:group|sequential) +(?P<mean>[\d,.M]+) +(?P<low>[\d,.M]+) to (?P<high>[\d,.M]+) +(?P<times>\d.*)$",
    re.MULTILINE,
)
_UNITS = {"s": 1, "min": 60, "h": 3600, "days": 86400}


def number(text: str) -> float:
    """Read a figure of the table."""
    return float(text.replace(",", "").rstrip("M")) * (1e6 if text.endswith("M") else 1)


def last_range(text: str) -> tuple[float, float]:
    """Read the last range of times in a row, which is that of all workers."""
    found = re.findall(r"([\d,.]+)(?: (s|min|h|days))? to ([\d,.]+) (s|min|h|days)", text)[-1]
    low, first, high, last = found
    return number(low) * _UNITS[first or last], number(high) * _UNITS[last]


def compare(model: Path, options: str, images: int) -> bool:
    """Preview a run, run it, and say whether it kept to the preview."""
    command = [sys.executable, "-m", "smoothcert", "certify", str(model), "--first", str(images)]
    command += ["--procedure", *options.split()]
    with tempfile.TemporaryDirectory() as folder:
        out = ["--out", f"{folder}/run"]
        told = subprocess.run(
            [*command, *out, "--dry-run"], check=True, capture_output=True, text=True
        ).stdout
        row = _ROW.search(told)
        assert row is not None, told
        begin = time.monotonic()
        subprocess.run([*command, *out], check=True, capture_output=True)
        spent = time.monotonic() - begin
        votes = float(sc.Run.open(f"{folder}/run").to_frame()["samples"].mean())
    low, high = number(row["low"]), number(row["high"])
    quick, slow = last_range(row["times"])
    kept = low <= votes <= high, quick <= spent <= slow
    print(
        f"{model.name} {options}: {votes:,.0f} votes per image, told {low:,.0f} to {high:,.0f}: {_said(kept[0])}; "
        f"{spent:.1f} s, told {quick:.1f} to {slow:.1f}: {_said(kept[1])}",
        flush=True,
    )
    return all(kept)


def _said(kept: bool) -> str:
    return "kept" if kept else "NOT kept"


def main() -> None:
    """Compare all models and procedures; the exit code says whether all kept to their preview."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--first", type=int, default=300)
    given = parser.parse_args()
    kept = []
    for model in given.models:
        radius = f"{sc.load_classifier(model).noise.std:g}"
        kept += [compare(model, options.format(r=radius), given.first) for options in PROCEDURES]
    sys.exit(0 if all(kept) else 1)


if __name__ == "__main__":
    main()
