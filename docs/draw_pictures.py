"""Draw the pictures of the pages on choosing, from small runs on the digits: `make docs-pictures`, some minutes.

What was trained or certified before is used again: the runs stay in .pictures/, which is no part of the repository.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import smoothcert as sc
from smoothcert.report import Summary, certified_accuracy_figure, save_figure, votes_figure

PICTURES = Path(__file__).with_name("pictures")
WORK = Path(__file__).resolve().parents[1] / ".pictures"
IMAGES, VOTES, MOST_VOTES, SIGMA, SEED = 200, 1_000, 10_000, 0.25, 0
METHODS = ("gaussian", "consistency", "smoothadv")
SIGMAS = (0.12, 0.25, 0.5)
RADIUS = 0.25
PROCEDURES: Mapping[str, sc.Procedure] = {
    "staged": sc.Staged(radius=RADIUS, stages=(100, 1_000, MOST_VOTES)),
    "sequential": sc.Sequential(radius=RADIUS, max_samples=MOST_VOTES),
    "group": sc.GroupSequential(radius=RADIUS, n=MOST_VOTES),
}


def draw_noise() -> None:
    """Draw one network trained and certified at several sigmas."""
    summaries = []
    for sigma in SIGMAS:
        folder = WORK / "models" / f"sigma-{sigma}"
        _train({"dataset": "digits", "model": "convnet", "sigma": sigma, "seed": SEED}, folder)
        summaries.append(_certified(folder, sc.FixedSample(n=VOTES), f"sigma {sigma}"))
    save_figure(certified_accuracy_figure(summaries), PICTURES / "noise.svg")


def draw_method() -> None:
    """Draw one network trained by several methods."""
    summaries = []
    for method in METHODS:
        folder = WORK / "models" / method
        _train(sc.load_recipe(f"digits-{method}").config(sigma=SIGMA, seed=SEED), folder)
        summaries.append(_certified(folder, sc.FixedSample(n=VOTES), method))
    save_figure(certified_accuracy_figure(summaries), PICTURES / "method.svg")


def draw_procedure() -> None:
    """Draw the votes that each procedure spends on the soft vote of three networks."""
    members = [WORK / "models" / f"member-{seed}" for seed in range(3)]
    for seed, folder in enumerate(members):
        _train({"dataset": "digits", "model": "convnet", "sigma": SIGMA, "seed": seed}, folder)
    ensemble = WORK / "models" / "ensemble"
    sc.save_ensemble(members, ensemble)
    summaries = [_certified(ensemble, procedure, name) for name, procedure in PROCEDURES.items()]
    save_figure(votes_figure(summaries), PICTURES / "procedure.svg")


def _train(config: Any, folder: Path) -> None:
    print(f"training {folder.name}", flush=True)
    sc.train(config, folder, resume=True, show_progress=False)


def _certified(folder: Path, procedure: sc.Procedure, name: str) -> Summary:
    print(f"certifying {name}", flush=True)
    run = sc.certify(
        sc.load_classifier(folder),
        sc.load_dataset("digits"),
        procedure=procedure,
        indices=range(IMAGES),
        seed=SEED,
        engine="torch",
        out=WORK / "runs" / name.replace(" ", "-"),
        resume=True,
    )
    return Summary.of_run(run).renamed(name)


if __name__ == "__main__":
    draw_noise()
    draw_procedure()
    draw_method()
