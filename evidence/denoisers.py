"""Denoised smoothing: denoisers in front of a classifier that never saw noise, alone and together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence.record import data_dir, record

import smoothcert as sc
from smoothcert.folders import load_model
from smoothcert.workflows import certify_panel

SEED, SIGMA, N, RADIUS = 0, 0.25, 500, 0.25
PAIRS = ((11, 12), (13, 14))
TEST = range(7, 10_000, 20)
RADII = [0.0, 0.25, 0.5]
WORK = Path(".evidence") / "denoisers"
CLASSIFIER: dict[str, Any] = {
    "dataset": "fashion-mnist",
    "model": "convnet",
    "method": "standard",
    "sigma": SIGMA,
    "epochs": 6,
    "lr": 0.1,
    "schedule": "one-cycle",
    "batch_size": 128,
    "weight_decay": 1e-4,
    "augment": False,
    "max_train_images": 10_000,
    "seed": 1,
}
# Far below the published size (depth 17, width 64, 90 epochs), to train in a minute on one core.
DENOISER: dict[str, Any] = {
    "dataset": "fashion-mnist",
    "model": "dncnn-small",
    "method": "denoiser-stability",
    "depth": 5,
    "width": 16,
    "sigma": SIGMA,
    "epochs": 3,
    "optimizer": "adam",
    "lr": 3e-3,
    "schedule": "one-cycle",
    "batch_size": 64,
    "weight_decay": 0.0,
    "max_train_images": 4_000,
}


def make() -> None:
    """Train what is not trained yet, certify, and compare."""
    plain = WORK / "classifier"
    sc.train({**CLASSIFIER, "data_dir": data_dir()}, out=plain, resume=True)
    alone = certify_panel(
        sc.load_classifier(plain),
        _test(),
        outs={"alone": WORK / "runs" / "alone"},
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        indices=TEST,
        resume=True,
        show_progress=True,
    )["alone"]
    pairs = [_pair(pair, plain) for pair in PAIRS]
    before = float(alone.certified_accuracy([RADIUS])[0])
    rises = [share["0.25"] - before for pair in pairs for share in pair["denoisers"]]
    record(
        "denoisers",
        about=f"A ConvNet trained on 10,000 clean images of Fashion-MNIST, certified at sigma {SIGMA} alone and behind "
        f"small denoisers (depth 5, width 16; 4,000 images, 3 epochs, stability objective), {len(TEST)} test images, "
        f"{N:,} votes each; the ensembles hold two denoisers before the same classifier and vote softly.",
        seed=SEED,
        interval="none; two pairs of denoisers, seeds fixed beforehand",
        figures={
            "classifier_alone": _shares(alone),
            "pairs": pairs,
            "smallest_rise_at_0.25": min(rises),
            "ensemble_at_least_better_denoiser": [
                pair["ensemble"]["0.25"] >= max(share["0.25"] for share in pair["denoisers"])
                for pair in pairs
            ],
        },
    )


def _pair(seeds: tuple[int, int], plain: Path) -> dict[str, Any]:
    """Train two denoisers, and certify both and their ensemble from the same votes."""
    folders = [WORK / f"denoiser-{seed}" for seed in seeds]
    for seed, folder in zip(seeds, folders, strict=True):
        sc.train(
            {**DENOISER, "seed": seed, "classifier": str(plain), "data_dir": data_dir()},
            out=folder,
            resume=True,
        )
        print(folder, flush=True)
    ensemble = sc.VotingEnsemble([load_model(folder)[0] for folder in folders]).eval()
    panel = sc.Panel(ensemble, [*(f"denoiser-{seed}" for seed in seeds), f"both-{seeds[0]}"])
    runs = certify_panel(
        sc.SmoothedClassifier(panel, sc.Gaussian(SIGMA), 10),
        _test(),
        outs={name: WORK / "runs" / name for name in panel.names},
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        indices=TEST,
        resume=True,
        show_progress=True,
    )
    *denoised, both = (_shares(run) for run in runs.values())
    print(seeds, denoised, both, flush=True)
    return {"seeds": list(seeds), "denoisers": denoised, "ensemble": both}


def _shares(run: sc.Run) -> dict[str, float]:
    """Return certified accuracy by radius, and ACR."""
    shares = dict(zip(map(str, RADII), map(float, run.certified_accuracy(RADII)), strict=True))
    return {**shares, "acr": run.average_radius()}


def _test() -> sc.Dataset:
    return sc.load_dataset("fashion-mnist", data_dir=data_dir())
