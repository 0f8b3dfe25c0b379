"""Heads on the digits: a single network, plain heads, SOME and five separate networks, three seeds."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

from evidence.record import record

import smoothcert as sc
from smoothcert.folders import save_ensemble
from smoothcert.training import load_recipe

SEEDS, SIGMA, N, IMAGES, RADII = (0, 1, 2), 0.5, 1_000, 300, [0.0, 0.25, 0.5]
WORK = Path(".evidence") / "some_digits"
KINDS = {
    "single": "digits-gaussian",
    "plain heads": "digits-multihead-gaussian",
    "some": "digits-some-gaussian",
}
SEPARATE = "five separate"


def make() -> None:
    """Train what is not trained yet by the recipes, certify, and compare."""
    figures = {kind: _figures(kind) for kind in (*KINDS, SEPARATE)}
    order = [figures[kind]["acr_mean"] for kind in (*KINDS, SEPARATE)]
    record(
        "some_digits",
        about=f"The small network on the digits at sigma {SIGMA} by the recipes digits-gaussian, -multihead-gaussian "
        f"and -some-gaussian (five heads), and five networks of the first; {IMAGES} test images, {N:,} votes each. The "
        "recipes with heads draw two noisy copies per image, the first one; all have 20 epochs.",
        seed=0,
        interval="standard deviation over three seeds",
        figures={"kinds": figures, "order_as_published": order[0] < order[1] < order[2]},
    )


def _trained(kind: str, seed: int) -> Path:
    folder = WORK / kind.replace(" ", "-") / f"seed-{seed}"
    if kind != SEPARATE:
        sc.train(load_recipe(KINDS[kind]).config(sigma=SIGMA, seed=seed), out=folder, resume=True)
        return folder
    members = [_trained("single", 5 * seed + member) for member in range(5)]
    if not folder.exists():
        save_ensemble(members, folder)
    return folder


def _figures(kind: str) -> dict[str, Any]:
    runs = [
        sc.certify(
            sc.load_classifier(_trained(kind, seed)),
            sc.load_dataset("digits"),
            procedure=sc.FixedSample(n=N),
            seed=seed,
            indices=range(IMAGES),
            out=WORK / "runs" / f"{kind.replace(' ', '-')}-{seed}",
            resume=True,
        )
        for seed in SEEDS
    ]
    acrs = [run.average_radius() for run in runs]
    shares = [[float(share) for share in run.certified_accuracy(RADII)] for run in runs]
    print(kind, acrs, flush=True)
    return {
        "acr": acrs,
        "acr_mean": mean(acrs),
        "acr_sd": stdev(acrs),
        "certified_accuracy": dict(zip(map(str, RADII), zip(*shares, strict=True), strict=True)),
    }
