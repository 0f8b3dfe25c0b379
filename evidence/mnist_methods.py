"""Every training method on MNIST at sigma .5, by one short schedule, beside the published figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from evidence.record import data_dir, record

import smoothcert as sc

SEED, SIGMA, N, IMAGES = 0, 0.5, 2_000, 20_000
WORK = Path(".evidence") / "mnist_methods"
RADII = [0.0, 0.5, 1.0]
CAP = sc.Gaussian(SIGMA).radius(sc.bounds.clopper_pearson_lower(N, N, 0.001))
SCHEDULE: dict[str, Any] = {
    "dataset": "mnist",
    "model": "lenet",
    "sigma": SIGMA,
    "epochs": 10,
    "schedule": "one-cycle",
    "lr": 0.1,
    "batch_size": 256,
    "weight_decay": 1e-4,
    "warmup_epochs": 1.0,
    "max_train_images": IMAGES,
    "seed": SEED,
}
# Beside the published settings: fewer copies and attack steps, so that all seven fit into half an hour on two cores.
# MACER's radius term has gradients tens of times those of cross entropy; it is published with a learning rate of
# 0.001 when the term sets in, for 60 epochs. In five epochs the rate must be higher, so lambda is lower in turn.
STEPS = {"schedule": "step", "lr": 0.05, "milestones": (5.0, 8.0)}
METHODS: dict[str, dict[str, Any]] = {
    "gaussian": {},
    "stability": {"settings": {"lbd": 2.0}},
    "consistency": {"settings": {"m": 2, "lbd": 5.0, "eta": 0.5}},
    "smoothadv": {"settings": {"m": 2, "steps": 2, "eps": 1.0}},
    "macer": {"settings": {"m": 4, "lbd": 2.0, "deferred": True}, "batch_size": 64, **STEPS},
    # The control for MACER: the same schedule and copies, without the radius term.
    "macer-control": {
        "method": "macer",
        "settings": {"m": 4, "lbd": 0.0, "deferred": True},
        "batch_size": 64,
        **STEPS,
    },
    "smoothmix": {"settings": {"m": 2, "steps": 4, "step_size": 1.0, "eta": 1.0}},
    "advmacer": {"settings": {"m": 4, "steps": 2, "eps": 1.0, "lbd": 2.0, "deferred": True}, **STEPS},
}
PUBLISHED = {
    "gaussian": 1.558,
    "stability": 1.572,
    "consistency": 1.655,
    "macer": 1.590,
    "smoothadv": 1.687,
}


def make() -> None:
    """Train what is not trained yet, certify every 20th test image, and compare."""
    figures = {}
    for method in METHODS:
        card = trained(method)
        run = certified(method)
        low, high = run.results.certified_accuracy_interval(RADII)
        figures[method] = {
            "acr": run.average_radius(),
            "published_acr": PUBLISHED.get(method),
            "certified_accuracy": {
                str(r): [float(v), float(a), float(b)]
                for r, v, a, b in zip(RADII, run.certified_accuracy(RADII), low, high, strict=True)
            },
            "training": dict(card.training) | {"data_dir": None},
            "metrics": dict(card.metrics),
            "passes_per_image": sc.TrainConfig(**SCHEDULE | {"method": method} | METHODS[method])
            .objective()
            .cost,
            "weights": card.digest,
        }
        print(method, f"ACR {figures[method]['acr']:.3f}", flush=True)
    record(
        "mnist_methods",
        about=f"LeNet on MNIST at sigma {SIGMA}, 10 epochs over {IMAGES:,} training images, one seed; every 20th test "
        f"image, {N:,} votes, which cap the radius at {CAP:.3f}; the published figures are for 90 epochs over all "
        "images, more copies and attack steps, and 100,000 votes (cap 1.906).",
        seed=SEED,
        interval="two-sided 95% Clopper-Pearson over images for certified accuracy",
        figures=figures,
    )


def trained(method: str) -> Any:
    """Train one method, or take up where a training stopped."""
    return sc.train(
        {**SCHEDULE, "method": method, **METHODS[method], "data_dir": data_dir()},
        out=WORK / method,
        resume=True,
        on_epoch=lambda epoch: print(method, epoch, flush=True),
    )


def certified(method: str) -> sc.Run:
    """Certify every 20th test image with the model of one method, or take up where that stopped."""
    return sc.certify(
        sc.load_classifier(WORK / method),
        sc.load_dataset("mnist", data_dir=data_dir()),
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        indices=range(0, 10_000, 20),
        out=WORK / "runs" / method,
        resume=True,
        show_progress=True,
    )


if __name__ == "__main__":  # some methods only, to spread them over cores
    for name in sys.argv[1:]:
        trained(name)
        certified(name)
