"""Vote shares of 500 MNIST test images under a LeNet trained with noise: what early stopping has to work with."""

from __future__ import annotations

from pathlib import Path

from evidence.record import data_dir, record

import smoothcert as sc

SEED, SIGMA, N = 0, 0.5, 10_000
WORK = Path(".evidence")
TRAINING = {
    "dataset": "mnist",
    "model": "lenet",
    "sigma": SIGMA,
    "epochs": 8,
    "lr": 0.1,
    "batch_size": 256,
    "weight_decay": 1e-4,
    "seed": SEED,
}


def make() -> None:
    """Train (or take up) the network and draw 10,000 votes for every 20th test image."""
    data = data_dir()
    card = sc.train(
        {**TRAINING, "data_dir": data},
        out=WORK / "lenet",
        resume=True,
        on_epoch=lambda epoch: print(epoch, flush=True),
    )
    run = sc.certify(
        sc.load_classifier(WORK / "lenet"),
        sc.load_dataset("mnist", data_dir=data),
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        indices=range(0, 10_000, 20),
        out=WORK / "lenet-votes",
        resume=True,
        show_progress=True,
    )
    radii = [0.0, 0.5, 1.0, 1.5]
    low, high = run.results.certified_accuracy_interval(radii)
    record(
        "p_a_mnist_lenet",
        about=f"LeNet, Gaussian augmentation, sigma {SIGMA}, 8 epochs on MNIST; vote share of the leading class in "
        f"{N:,} votes for every 20th test image, and whether that class is the label.",
        seed=SEED,
        interval="two-sided 95% Clopper-Pearson over images for certified accuracy",
        figures={
            "training": dict(card.training) | {"data_dir": None},
            "metrics": dict(card.metrics),
            "weights": card.digest,
            "sigma": SIGMA,
            "votes_per_image": N,
            "index": run.results.index.tolist(),
            "p_hat": run.p_hat.tolist(),
            "correct": [
                bool(top == label) for top, label in zip(_leading(run), run.results.label, strict=True)
            ],
            "certified_accuracy": {
                str(r): [float(v), float(a), float(b)]
                for r, v, a, b in zip(radii, run.certified_accuracy(radii), low, high, strict=True)
            },
        },
    )


def _leading(run: sc.Run) -> list[int]:
    """The class with most of the estimating votes, also where nothing was certified."""
    return [counts.top for counts in run.final_counts]
