"""Certified accuracy and accuracy under attack, digits and MNIST, three sigmas: the truth lies between."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence.record import FOLDER, data_dir, record

import smoothcert as sc
from smoothcert.report import Summary, attack_to_json, certified_accuracy_figure, save_figure

IMAGES, SEED = 200, 0
# On 8 x 8 pixels noise of 1.0 leaves next to nothing to certify, and nothing certified is nothing tested.
SIGMAS = {"digits": (0.12, 0.25, 0.5), "mnist": (0.25, 0.5, 1.0)}
WORK, FIGURES = Path(".evidence") / "attacks", FOLDER / "figures" / "attacks"
SHARES = (0.5, 1.0, 1.5, 2.0)  # radii in sigmas
ATTACK: dict[str, Any] = {"steps": 20, "m": 128, "n": 1_000, "alpha": 0.001}
VOTES = 2_000
# A few seconds of training each: the gap is about attack and certificate, not about the best network.
TRAINING: dict[str, dict[str, Any]] = {
    "digits": {"dataset": "digits", "model": "convnet"},
    "mnist": {
        "dataset": "mnist",
        "model": "lenet",
        "epochs": 2,
        "schedule": "one-cycle",
        "lr": 0.1,
        "batch_size": 256,
        "max_train_images": 10_000,
    },
}


def make() -> None:
    """Train, certify and attack what is not there yet; a stopped piece continues."""
    figures: dict[str, Any] = {}
    for name in TRAINING:
        folder = data_dir() if name == "mnist" else None
        figures[name] = {str(sigma): _attacked(name, sigma, folder) for sigma in SIGMAS[name]}
    record(
        "attacks",
        about=f"The first {IMAGES} test images, {VOTES:,} votes each, attacked by l2 PGD ({ATTACK['steps']} steps "
        f"through the mean softmax over {ATTACK['m']} noises) within {SHARES} sigma and just inside each certified "
        f"radius; broken where PREDICT ({ATTACK['n']:,} votes) answers another class. Curves in figures/attacks.",
        seed=SEED,
        interval="none: shares of the same images, one beside the other",
        figures=figures,
    )


def _attacked(name: str, sigma: float, folder: str | None) -> dict[str, Any]:
    """Return both bounds of one network."""
    place = WORK / f"{name}-{sigma}"
    where = {} if folder is None else {"data_dir": folder}
    sc.train({**TRAINING[name], **where, "sigma": sigma, "seed": SEED}, out=place / "model", resume=True)
    classifier, dataset = sc.load_classifier(place / "model"), sc.load_dataset(name, data_dir=folder)
    run = sc.certify(
        classifier,
        dataset,
        procedure=sc.FixedSample(n=VOTES),
        seed=SEED,
        indices=range(IMAGES),
        out=place / "run",
        resume=True,
        show_progress=True,
    )
    found = sc.attack_images(
        classifier,
        dataset,
        radii=[share * sigma for share in SHARES],
        run=run,
        seed=SEED + 1,
        out=place / "attack",
        resume=True,
        show_progress=True,
        **ATTACK,
    )
    summary = Summary.of_run(run, f"{name}, sigma {sigma:g}")
    save_figure(certified_accuracy_figure([summary], attack=found), FIGURES / f"{name}-{sigma:g}.png")
    figures = attack_to_json(found)
    del figures["settings"]
    print(name, sigma, figures, flush=True)
    lower, upper = figures["certified_accuracy"], figures["accuracy_under_attack"]
    assert all(low <= high for low, high in zip(lower, upper, strict=True)), "certified above attacked"
    assert not figures["breaks_more_than_alpha_allows"], figures["broken_certificates"]
    return figures
