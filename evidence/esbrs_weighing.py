"""How EsbRS should weigh the images of a hold-out: digits ensembles, five draws each, certified in every way."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, stdev
from typing import Any

import numpy as np
import torch
from evidence.record import record
from numpy.typing import NDArray
from scipy.stats import t as student_t

import smoothcert as sc
from smoothcert.data import Dataset
from smoothcert.ensembles import MarginMoments, margin_moments, minimise_quadratic
from smoothcert.folders import load_model
from smoothcert.training import load_recipe
from smoothcert.workflows import certify_panel

SEED, SIGMA, N, DRAWS, MEMBERS = 0, 0.25, 2_000, 5, 5
RADII = (0.0, 0.25, 0.5)
HOLDOUT, FLOOR = 200, 0.1
WORK = Path(".evidence") / "esbrs_weighing"
# Epochs of the members; seeds differ as well. Unlike members are where weights matter.
ENSEMBLES = {"like members": (20,) * MEMBERS, "unlike members": (1, 2, 4, 8, 20)}


def make() -> None:
    """Train, choose weights in every way from the same moments, and certify the mixtures with the same votes."""
    figures = {name: _ensembles(name, epochs) for name, epochs in ENSEMBLES.items()}
    record(
        "esbrs_weighing",
        about="Five convnets per ensemble (digits-gaussian at sigma 0.25; 20 epochs each, or 1, 2, 4, 8 and 20), five "
        f"draws of seeds; EsbRS weights from the same moments on {HOLDOUT} hold-out images, mixed by probability, all "
        f"500 test images with {N:,} votes. 'floor': factors max(e_c, .1)^-2 summed over images, so that pairs of "
        "image and class at the floor count a hundredfold. 'alike': the factors of every image divided by their sum. "
        "'correct only': as floor, images with a pair at the floor left out. 'equal': 1/k. share_of_floor: the part "
        "of the floor's objective, at equal weights, that comes from pairs at the floor.",
        seed=SEED,
        interval="95% t interval over the five draws of the difference in ACR, alike minus each other way",
        figures=figures,
    )


def weighings(moments: MarginMoments) -> dict[str, NDArray[np.float64]]:
    """Return weights of the members under every way to add up images, written out from the definitions."""
    rivals = np.arange(moments.mean.shape[2]) != moments.classes[:, None]
    smallest = moments.mean.min(axis=1)
    factors = np.where(rivals, np.maximum(smallest, FLOOR) ** -2.0, 0.0)
    clear = (np.where(rivals, smallest, np.inf) > FLOOR).all(axis=1)
    ways = {
        "floor": factors,
        "alike": factors / factors.sum(axis=1, keepdims=True),
        "correct only": factors * clear[:, None],
    }
    members = moments.mean.shape[1]
    found = {"equal": np.full(members, 1 / members)}
    for name, chosen in ways.items():
        found[name] = minimise_quadratic(np.einsum("nc,nckl->kl", chosen, moments.covariance) / len(factors))
    return found


def share_of_floor(moments: MarginMoments) -> float:
    """Return the part of the objective at equal weights that pairs of image and class at the floor make up."""
    rivals = np.arange(moments.mean.shape[2]) != moments.classes[:, None]
    smallest = moments.mean.min(axis=1)
    terms = np.where(rivals, np.maximum(smallest, FLOOR) ** -2.0, 0.0) * moments.covariance.mean(axis=(2, 3))
    return float(terms[rivals & (smallest <= FLOOR)].sum() / terms.sum())


def _ensembles(name: str, epochs: tuple[int, ...]) -> dict[str, Any]:
    draws = []
    for draw in range(DRAWS):
        draws.append(_draw(name, epochs, draw))
        print(name, draw, draws[-1], flush=True)
    return {
        "mean_acr": {way: mean(draw["acr"][way] for draw in draws) for way in draws[0]["acr"]},
        **{
            f"alike_minus_{way.replace(' ', '_')}": _interval(
                [draw["acr"]["alike"] - draw["acr"][way] for draw in draws]
            )
            for way in ("floor", "equal", "correct only")
        },
        "draws": draws,
    }


def _interval(apart: list[float]) -> list[float]:
    """Return a 95% t interval over draws: they share their test images, so images are no independent repetitions."""
    half = float(student_t.ppf(0.975, len(apart) - 1)) * stdev(apart) / len(apart) ** 0.5
    return [mean(apart) - half, mean(apart) + half]


def _draw(name: str, epochs: tuple[int, ...], draw: int) -> dict[str, Any]:
    members = []
    for place, length in enumerate(epochs):
        seed = draw * MEMBERS + place
        folder = WORK / f"{length}-epochs-{seed}"
        config = load_recipe("digits-gaussian").config(sigma=SIGMA, seed=seed, epochs=length)
        sc.train(config, out=folder, resume=True)
        members.append(load_model(folder)[0])
    moments = _moments(members, sc.load_dataset("digits", "holdout"))
    weights = weighings(moments)
    ensembles = [sc.VotingEnsemble(members, "softmax", one.tolist()).eval() for one in weights.values()]
    names = [*(f"member-{place}" for place in range(MEMBERS)), *weights]
    runs = certify_panel(
        sc.SmoothedClassifier(sc.Panel(ensembles, names), sc.Gaussian(SIGMA), 10),
        sc.load_dataset("digits"),
        outs={one: WORK / name.replace(" ", "-") / f"draw-{draw}" / one.replace(" ", "-") for one in names},
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        resume=True,
        show_progress=True,
    )
    return {
        "share_of_floor": share_of_floor(moments),
        "acr": {way: runs[way].average_radius() for way in weights},
        "certified_accuracy": {way: runs[way].certified_accuracy(RADII).tolist() for way in weights},
        "member_acr": [runs[f"member-{place}"].average_radius() for place in range(MEMBERS)],
        "weights": {way: one.tolist() for way, one in weights.items()},
    }


def _moments(members: list[Any], dataset: Dataset) -> MarginMoments:
    labels = torch.tensor(dataset.labels[:HOLDOUT])
    return margin_moments(members, dataset.batch(range(HOLDOUT)), labels, sc.Gaussian(SIGMA), seed=SEED)
