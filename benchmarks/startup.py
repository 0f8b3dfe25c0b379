"""Part "startup": what answers without a network takes a fraction of the time that torch alone takes to import."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Spread, spread
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import Settings

TORCH = "import torch"
MOST = {
    "import smoothcert": 0.15,
    "smoothcert --help": 0.35,
    "smoothcert --version": 0.35,
    "smoothcert recipes": 0.35,
    "smoothcert datasets": 0.35,
    "smoothcert analyze log.tsv": 0.55,
}
"""Largest share of torch's time, by what is asked."""
_IMAGES = 500  # of the log


def run(settings: Settings) -> Part:
    """Time every command in processes of its own, in turns with the import of torch."""
    seconds: dict[str, list[float]] = {name: [] for name in (TORCH, *MOST)}
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.tsv"
        log.write_text(_log())
        for repetition in range(-1, settings.startup_rounds):  # the first fills the caches of the disk
            for name, taken in seconds.items():
                start = time.perf_counter()
                subprocess.run(_command(name), cwd=folder, check=True, stdout=subprocess.DEVNULL)
                if repetition >= 0:
                    taken.append(time.perf_counter() - start)
                    rows.append({"asked": name, "repetition": repetition, "seconds": taken[-1]})
    torch_time = spread(seconds[TORCH]).median
    shares = {name: _share(seconds[name], torch_time) for name in MOST}
    summary = {"torch_seconds": torch_time, "shares": {name: vars(share) for name, share in shares.items()}}
    return Part(rows=rows, summary=summary)


def render(part: dict[str, Any]) -> str:
    """Return the table of a summary."""
    lines = [
        [name, shown(part["shares"][name], 3), verdict(part["shares"][name]["median"], most=most)]
        for name, most in MOST.items()
    ]
    about = f"`python -c 'import torch'` takes {part['torch_seconds']:.2f} s (median)."
    return f"### Startup\n\n{about}\n\n" + table(["asked", "share of torch's time", "goal"], lines)


def _share(taken: list[float], torch_time: float) -> Spread:
    return spread([seconds / torch_time for seconds in taken])


def _command(name: str) -> list[str]:
    program, _, rest = name.partition(" ")
    return [
        sys.executable,
        *(["-c", name] if program == "import" else ["-m", program, *rest.split()]),
    ]


def _log() -> str:
    lines = ["idx\tlabel\tpredict\tradius\tcorrect\ttime"]
    lines += [
        f"{index}\t{index % 10}\t{index % 10}\t{index / 1000}\t1\t0:00:01.5" for index in range(_IMAGES)
    ]
    return "\n".join(lines) + "\n"
