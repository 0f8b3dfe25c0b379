"""Every training method on the embedded digits, three seeds each, beside a network trained without noise."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

from evidence.record import record

import smoothcert as sc
from smoothcert.training import load_recipe, recipe_names

SEEDS, SIGMAS, N = (0, 1, 2), (0.25, 0.5), 1_000
WORK = Path(".evidence") / "digits_methods"
RADII = [0.0, 0.25, 0.5, 0.75]


def make() -> None:
    """Train what is not trained yet, certify all 500 test images, and compare."""
    methods = [name.removeprefix("digits-") for name in recipe_names() if name.startswith("digits-")]
    figures: dict[str, Any] = {}
    for sigma in SIGMAS:
        figures[str(sigma)] = {method: _method(method, sigma) for method in methods}
        for method, found in figures[str(sigma)].items():
            print(sigma, method, f"ACR {found['acr_mean']:.4f}", found["certified_accuracy_mean"], flush=True)
    record(
        "digits_methods",
        about=f"The small network on the digits by the recipes digits-*, seeds {SEEDS}; all 500 test images, {N:,} "
        "votes each; `standard` is trained without noise and certified with the same noise as the others.",
        seed=0,
        interval="standard deviation over the three seeds",
        figures=figures,
    )


def _method(method: str, sigma: float) -> dict[str, Any]:
    """Return the figures of one method at one sigma, over the seeds."""
    acrs, accuracies, cards = [], [], []
    for seed in SEEDS:
        folder = WORK / f"{method}-{sigma}-{seed}"
        cards.append(
            sc.train(load_recipe(f"digits-{method}").config(sigma=sigma, seed=seed), out=folder, resume=True)
        )
        run = sc.certify(
            sc.load_classifier(folder),
            sc.load_dataset("digits"),
            procedure=sc.FixedSample(n=N),
            seed=0,
            out=WORK / "runs" / folder.name,
            resume=True,
        )
        acrs.append(run.average_radius())
        accuracies.append([float(value) for value in run.certified_accuracy(RADII)])
    by_radius = dict(zip(map(str, RADII), zip(*accuracies, strict=True), strict=True))
    return {
        "acr": acrs,
        "acr_mean": mean(acrs),
        "acr_sd": stdev(acrs),
        "certified_accuracy": by_radius,
        "certified_accuracy_mean": {radius: mean(values) for radius, values in by_radius.items()},
        "certified_accuracy_sd": {radius: stdev(values) for radius, values in by_radius.items()},
        "training_seconds": [card.metrics["seconds"] for card in cards],
        "settings": cards[0].training["settings"],
    }
