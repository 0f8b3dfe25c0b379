"""Part "memory": peak resident growth for many votes of one image, and for many images; LeNet.

Every figure comes from a fresh process, because a process never gives all its memory back.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import smoothcert as sc
from benchmarks.measure import timed
from benchmarks.networks import load
from benchmarks.ours import Ours, votes_of
from benchmarks.report import Part, table, verdict
from benchmarks.settings import Settings

MOST_MEGABYTES = 300
FEW_VOTES = sc.FixedSample(n0=16, n=48)
ONE_IMAGE, MANY_IMAGES = "one image", "many images"


def resident() -> tuple[float, float]:
    """Return resident memory now and at its peak, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    found = {line.split(":")[0]: line.split()[1] for line in lines if line.startswith(("VmRSS", "VmHWM"))}
    return int(found["VmRSS"]) / 1024, int(found["VmHWM"]) / 1024


def forget_peak() -> None:
    """Set the peak back to what is resident now."""
    Path("/proc/self/clear_refs").write_text("5")


def random_images(count: int) -> sc.Dataset:
    """Return a data set of random 28x28 images."""
    generator = np.random.default_rng(0)
    images = generator.integers(0, 256, (count, 1, 28, 28), dtype=np.uint8)
    labels = np.arange(count, dtype=np.int64) % 10
    return sc.Dataset.from_arrays(images, labels, class_names=[str(c) for c in range(10)])


def child(case: str, size: int, engine: str, workers: int) -> dict[str, Any]:
    """Measure one case in this process; nothing else may have run in it before."""
    network, dataset = load("lenet"), random_images(size if case == MANY_IMAGES else 1)
    forget_peak()
    start, _ = resident()
    ours = Ours(network.model, dataset.image(0), engine=engine, workers=workers)
    warm, setup_peak = resident()
    forget_peak()
    if case == ONE_IMAGE:
        votes, seconds = timed(lambda: ours.certify(dataset.image(0), size).votes)
    else:
        votes, seconds = timed(lambda: votes_of(ours.certify_many(dataset, FEW_VOTES)))
    _, peak = resident()
    return {
        "part": "memory",
        "network": "lenet",
        "rival": "ours",
        "case": case,
        "repetition": 0,
        "images": len(dataset),
        "votes": votes,
        "seconds": seconds,
        "engine": ours.engine.engine_name,
        "resident_before_mb": start,
        "growth_making_the_engine_mb": setup_peak - start,
        "growth_certifying_mb": peak - warm,
        "growth_in_all_mb": max(peak, setup_peak) - start,
    }


def run(settings: Settings) -> Part:
    """Measure both cases, each in a process of its own."""
    cases = ((ONE_IMAGE, settings.memory_votes), (MANY_IMAGES, settings.memory_images))
    rows = [_in_new_process(case, size, settings.engine, settings.workers) for case, size in cases]
    return Part(rows, {"cases": rows})


def _in_new_process(case: str, size: int, engine: str, workers: int) -> dict[str, Any]:
    print(f"memory: {case}, {size:,}", flush=True)
    command = [sys.executable, "-m", "benchmarks.memory", case, str(size), engine, str(workers)]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, text=True, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = [
        [
            f"{case['images']:,}",
            f"{case['votes']:,}",
            f"{case['growth_making_the_engine_mb']:.0f} MB",
            *(
                cell
                for kind in ("certifying", "in_all")
                for cell in (
                    f"{case[f'growth_{kind}_mb']:.0f} MB",
                    verdict(case[f"growth_{kind}_mb"], most=MOST_MEGABYTES),
                )
            ),
        ]
        for case in summary["cases"]
    ]
    head = [
        "images",
        "votes",
        "growth making the engine",
        "growth certifying",
        "goal",
        "growth in all",
        "goal",
    ]
    return f"### Memory\n\n{table(head, rows)}"


if __name__ == "__main__":
    print(json.dumps(child(sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]))))
