"""A hundred thousand images: written by 16 shards, merged, resumed, analysed and exported, each in how much memory.

Every step is a process of its own, because a process never gives all its memory back. Votes are few and the network is
tiny: what is looked at are records, not votes.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from evidence.record import record

IMAGES, SHARDS, SEED = 100_000, 16, 0
MOST_MEGABYTES = 500
STEPS = (
    "nothing",
    "shards",
    "merge",
    "merge with a gap",
    "resume",
    "analyze",
    "export tsv",
    "export json",
    "status",
)


def make() -> None:
    """Take a hundred thousand images through all steps and record time and memory of each."""
    with tempfile.TemporaryDirectory() as folder:
        figures = {step: _measured(step, Path(folder), IMAGES) for step in STEPS}
    record(
        "many_images",
        about=f"Records of {IMAGES:,} images (16 + 48 votes each) drawn in {SHARDS} shards, merged, resumed from 15 of "
        "them, analysed and exported: seconds and peak resident memory (MB) of each step in a process of its own, "
        "torch included; the resumed run is the merged one.",
        seed=SEED,
        interval="none: one measurement, on a machine with other work",
        figures={"images": IMAGES, "shards": SHARDS, "most_megabytes": MOST_MEGABYTES, "steps": figures},
    )


def _measured(step: str, folder: Path, images: int) -> dict[str, float]:
    order = [sys.executable, "-m", "evidence.many_images", step, str(folder), str(images)]
    told: dict[str, float] = json.loads(subprocess.run(order, check=True, capture_output=True).stdout)
    print(f"{step}: {told}", flush=True)
    return told


def _classifier_and_images(images: int) -> tuple[Any, Any]:
    import torch

    import smoothcert as sc

    model = torch.nn.Linear(1, 2).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[-4.0], [4.0]]))
        model.bias.copy_(torch.tensor([2.0, -2.0]))
    pixels = np.random.default_rng(SEED).uniform(size=(images, 1)).astype(np.float32)
    dataset = sc.Dataset.from_arrays(pixels, (pixels[:, 0] > 0.5).astype(np.int64), name="many")
    return sc.SmoothedClassifier(model, sc.Gaussian(0.25), 2), dataset


def _shards(folder: Path, images: int) -> None:
    import smoothcert as sc

    classifier, dataset = _classifier_and_images(images)
    procedure = sc.FixedSample(n0=16, n=48)
    plan = sc.plan_run(
        classifier, dataset, folder / "plan.json", procedure=procedure, seed=SEED, engine="torch"
    )
    for number in range(1, SHARDS + 1):
        sc.certify_shard(classifier, dataset, plan, shard=f"{number}/{SHARDS}", out=folder / str(number))


def _merge(folder: Path, images: int) -> None:
    import smoothcert as sc

    assert sc.merge_runs(
        [folder / str(number) for number in range(1, SHARDS + 1)], folder / "whole"
    ).is_complete


def _merge_with_a_gap(folder: Path, images: int) -> None:
    import smoothcert as sc

    pieces = [folder / str(number) for number in range(1, SHARDS)]
    assert not sc.merge_runs(pieces, folder / "resumed", allow_gaps=True).is_complete


def _resume(folder: Path, images: int) -> None:
    import smoothcert as sc

    classifier, dataset = _classifier_and_images(images)
    procedure, out = sc.FixedSample(n0=16, n=48), folder / "resumed"
    run = sc.certify(
        classifier, dataset, procedure=procedure, seed=SEED, engine="torch", out=out, resume=True
    )
    assert run.is_complete


def _analyze(folder: Path, images: int) -> None:
    from smoothcert.report import Summary

    told = [Summary.of_path(folder / name) for name in ("whole",)]
    assert told[0].to_json()["images"] == images


def _export(folder: Path, form: str) -> None:
    from smoothcert.store import Run, write_export

    for name in ("whole", "resumed"):
        write_export(Run.open(folder / name), form, folder / f"{name}.{form}")
    if form == "tsv":  # all but times
        whole, resumed = ((folder / f"{name}.tsv").read_text().splitlines() for name in ("whole", "resumed"))
        assert all(
            a.rpartition("\t")[0] == b.rpartition("\t")[0] for a, b in zip(whole, resumed, strict=True)
        )


def _status(folder: Path, images: int) -> None:
    from smoothcert.store import run_status

    assert run_status(folder / "whole").done == images


def _child(step: str, folder: Path, images: int) -> None:
    import smoothcert.workflows.certify  # noqa: F401  # torch and all that every step needs

    steps: dict[str, Any] = {
        "nothing": lambda: None,
        "shards": lambda: _shards(folder, images),
        "merge": lambda: _merge(folder, images),
        "merge with a gap": lambda: _merge_with_a_gap(folder, images),
        "resume": lambda: _resume(folder, images),
        "analyze": lambda: _analyze(folder, images),
        "export tsv": lambda: _export(folder, "tsv"),
        "export json": lambda: _export(folder, "json"),
        "status": lambda: _status(folder, images),
    }
    start, processor = time.monotonic(), time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):
        steps[step]()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    figures = {"seconds": time.monotonic() - start, "processor_seconds": time.process_time() - processor}
    print(json.dumps({name: round(value, 1) for name, value in {**figures, "peak_mb": peak}.items()}))


if __name__ == "__main__":
    _child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
