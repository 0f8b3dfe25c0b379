"""Ensembles of five on digits and on Fashion-MNIST, three draws: every rule, consensus and weights side by side."""

from __future__ import annotations

import sys
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from evidence.ensemble_members import DRAWS, MEMBERS, SETS, SIGMA, WORK, member_folders
from evidence.record import FOLDER, data_dir, record

import smoothcert as sc
from smoothcert.data import Dataset
from smoothcert.folders import load_model, make_ensemble
from smoothcert.report import Summary, consensus_rate, member_curves, variance_to_json, write_variance_figures
from smoothcert.theory import study_ensemble
from smoothcert.workflows import certify_panel

SEED, N, RADII = 0, 2_000, [0.0, 0.25, 0.5]
IMAGES = {"digits": range(500), "fashion-mnist": range(0, 10_000, 40)}
FIRST = {"rule": "soft", "order_by_holdout": True}
# How each ensemble is made; members in the order of their noisy accuracy on the hold-out, which "soft" finds.
KINDS: dict[str, dict[str, Any]] = {
    "soft": {"rule": "soft"},
    "softmax": {"rule": "softmax"},
    "hard": {"rule": "hard"},
    "max-margin": {"rule": "max-margin"},
    "consensus-2": {"rule": "soft", "early_exit": sc.Consensus(2)},
    "consensus-3": {"rule": "soft", "early_exit": sc.Consensus(3)},
    "sween": {"fit": "sween"},
    "sween-adaptive": {"fit": "sween", "early_exit": sc.Adaptive()},
    "esbrs": {"fit": "esbrs"},
}


def make() -> None:
    """Train what is not trained yet, certify what is not certified yet, and compare."""
    figures: dict[str, Any] = {}
    for dataset in SETS:
        draws = [draw_figures(dataset, draw) for draw in range(DRAWS)]
        figures[dataset] = {"draws": draws, "mean_acr": _means(draws), **_study(dataset)}
    record(
        "ensembles",
        about="Five members (digits: recipe digits-gaussian; fashion-mnist: LeNet, 10 epochs over 10,000 images), "
        f"sigma {SIGMA}, three draws of five; 500 (fashion-mnist: 250) test images, {N:,} votes each, all classifiers "
        "of a draw from the same votes. gain_kept is that of the variance paper: the share of the ensemble's ACR over "
        "its first member (the best on the noisy hold-out) that consensus keeps. The study of variances is on hold-out "
        "images.",
        seed=SEED,
        interval="95% normal interval over images of the paired difference in radius, ensemble minus best member",
        figures=figures,
    )


def draw_figures(dataset: str, draw: int) -> dict[str, Any]:
    """Return what all classifiers of one draw certify."""
    runs = _runs(dataset, draw)
    members = [runs[f"member-{member}"] for member in range(MEMBERS)]
    best = max(members, key=lambda run: run.average_radius())
    found: dict[str, Any] = {}
    for name, run in runs.items():
        found[name] = {
            "acr": run.average_radius(),
            "certified_accuracy": dict(
                zip(map(str, RADII), map(float, run.certified_accuracy(RADII)), strict=True)
            ),
            "evaluations_per_vote": Summary.of_run(run).evaluations_per_vote,
        }
        if name in KINDS:
            low, high = _paired(run, best)
            found[name] |= {
                "over_best_member": run.average_radius() / best.average_radius() - 1,
                "difference_interval": [low, high],
            }
    gain = found["soft"]["acr"] - found["member-0"]["acr"]
    for name in ("consensus-2", "consensus-3"):
        found[name] |= {
            "kcr": consensus_rate(runs[name]),
            "gain_kept": (found[name]["acr"] - found["member-0"]["acr"]) / gain,
            "gain_over_best_kept": (found[name]["acr"] - best.average_radius())
            / (found["soft"]["acr"] - best.average_radius()),
            "acr_of_ensemble": found[name]["acr"] / found["soft"]["acr"],
        }
    for curve in member_curves([Summary.of_run(run) for run in runs.values()]):
        found[curve.name] = {
            "acr": curve.area(),  # of the envelope the area under it, not the best member's
            "certified_accuracy": dict(
                zip(map(str, RADII), curve.certified_accuracy(RADII).tolist(), strict=True)
            ),
        }
    for name in ("sween", "esbrs"):
        card = load_model(_folder(dataset, draw, name))[1]
        found[name] |= {"weights": list(card.weights), "hold_out": dict(card.fitted[0].found)}
    print(dataset, draw, {name: round(cell["acr"], 4) for name, cell in found.items()}, flush=True)
    return found


def _runs(dataset: str, draw: int) -> dict[str, sc.Run]:
    """Make the ensembles of a draw and certify them together with their members."""
    folders = _ordered(dataset, draw)
    ensembles = []
    for name, how in KINDS.items():
        out = _folder(dataset, draw, name)
        if name != "soft" and not out.exists():
            chosen_on = _data(dataset, "holdout") if "fit" in how else None
            make_ensemble(folders, out, dataset=chosen_on, seed=SEED if "fit" in how else None, **how)
        ensembles.append(load_model(out)[0])
    names = [*(f"member-{member}" for member in range(MEMBERS)), *KINDS]
    panel = sc.Panel(ensembles, names)  # type: ignore[arg-type]  # folders of ensembles
    test = _data(dataset, "test")
    return certify_panel(
        sc.SmoothedClassifier(panel, sc.Gaussian(SIGMA), test.num_classes),
        test,
        outs={name: WORK / dataset / "runs" / f"draw-{draw}" / name for name in names},
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        indices=IMAGES[dataset],
        resume=True,
        show_progress=True,
    )


def _ordered(dataset: str, draw: int) -> list[Path]:
    """Return the members of a draw, the most accurate on the noisy hold-out first."""
    out, folders = _folder(dataset, draw, "soft"), member_folders(dataset, draw)
    if not out.exists():
        make_ensemble(folders, out, dataset=_data(dataset, "holdout"), seed=SEED, **FIRST)
    card = load_model(out)[1]
    return [(out / entry.path).resolve() for entry in card.members]


def _study(dataset: str) -> dict[str, Any]:
    """Return the variance model beside what was observed, and one member at five times the votes, for draw 0."""
    folder = _folder(dataset, 0, "soft")
    study = study_ensemble(folder, _data(dataset, "holdout"), images=100, noises=200, seed=SEED)
    write_variance_figures(study, FOLDER / "figures" / dataset)
    told = variance_to_json(study)
    long_run = sc.certify(
        sc.load_classifier(_ordered(dataset, 0)[0]),
        _data(dataset, "test"),
        procedure=sc.FixedSample(n=MEMBERS * N),
        seed=SEED,
        indices=IMAGES[dataset],
        out=WORK / dataset / "runs" / "first-member-at-equal-inference",
        resume=True,
        show_progress=True,
    )
    return {
        "variance_model": {key: value for key, value in told.items() if key != "path"},
        "first_member_at_equal_inference": {
            "votes": MEMBERS * N,
            "acr": long_run.average_radius(),
            "certified_accuracy": dict(
                zip(map(str, RADII), map(float, long_run.certified_accuracy(RADII)), strict=True)
            ),
        },
    }


def _paired(run: sc.Run, other: sc.Run) -> tuple[float, float]:
    """Return a 95% normal interval over images for the difference of two runs' mean radii."""
    radii = [np.where(one.results.correct, one.results.radius, 0.0) for one in (run, other)]
    apart = radii[0] - radii[1]
    half = 1.96 * apart.std(ddof=1) / len(apart) ** 0.5
    return float(apart.mean() - half), float(apart.mean() + half)


def _means(draws: list[dict[str, Any]]) -> dict[str, float]:
    return {name: mean(draw[name]["acr"] for draw in draws) for name in draws[0]}


def _data(dataset: str, split: str) -> Dataset:
    return sc.load_dataset(dataset, split, None if dataset == "digits" else data_dir())


def _folder(dataset: str, draw: int, name: str) -> Path:
    return WORK / dataset / "ensembles" / f"draw-{draw}" / name


if __name__ == "__main__":  # one data set by name, to spread them over time
    for which in sys.argv[1:]:
        for number in range(DRAWS):
            draw_figures(which, number)
