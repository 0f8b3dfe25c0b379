"""The demo's certified accuracies, with intervals over images, and its cost."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from evidence.record import FOLDER, record

from smoothcert.report import Summary
from smoothcert.workflows.demo import RADII, run_demo

SEED = 0
WORK = Path(".evidence") / "demo"


def make() -> None:
    """Run the demo (or continue it) and keep its figures and its picture."""
    runs = run_demo(WORK, seed=SEED, say=lambda line: print(line, flush=True))
    grid = np.asarray(RADII)
    figures = []
    for name, run in runs.items():
        row = Summary.of_run(run, name).to_json(grid)
        figures.append({key: value for key, value in row.items() if key != "seconds"})
    picture = WORK / "figures" / "certified_accuracy.png"
    (FOLDER.parent / "docs" / "certified_accuracy.png").write_bytes(picture.read_bytes())
    record(
        "demo_figures",
        about="Three convolutional networks trained on noisy digits (sigma .25) and their soft ensemble, 200 test "
        "images, sequential over a grid of radii with at most 10,000 votes, alpha .001.",
        seed=SEED,
        interval="two-sided 95% Clopper-Pearson over images, per radius",
        figures=figures,
    )
