"""When mixing helps: ensembles of three digits networks of like and unlike training, forecast and certified."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from evidence.digits_methods import WORK as METHODS
from evidence.record import record

import smoothcert as sc
from smoothcert.ensembles import fit_esbrs
from smoothcert.folders import load_model
from smoothcert.training import load_recipe
from smoothcert.workflows import certify_panel

SEED, SIGMA, N = 0, 0.25, 2_000
WORK = Path(".evidence") / "mixing"
# Members as (method, seed). The last two hold members that were never shown noise.
ENSEMBLES = {
    "three gaussian": [("gaussian", 0), ("gaussian", 1), ("gaussian", 2)],
    "three smoothadv": [("smoothadv", 0), ("smoothadv", 1), ("smoothadv", 2)],
    "gaussian, consistency, smoothadv": [("gaussian", 0), ("consistency", 0), ("smoothadv", 0)],
    "consistency, smoothadv, smoothmix": [("consistency", 0), ("smoothadv", 0), ("smoothmix", 0)],
    "gaussian and one without noise": [("gaussian", 0), ("gaussian", 1), ("standard", 0)],
    "gaussian and two without noise": [("gaussian", 0), ("standard", 0), ("standard", 1)],
}


def make() -> None:
    """Forecast on the hold-out, then certify all 500 test images, with equal weights of probabilities and EsbRS's."""
    figures = {name: _figures(name, members) for name, members in ENSEMBLES.items()}
    agree = sum(found["forecast_helps"] == found["helps"] for found in figures.values())
    record(
        "mixing",
        about="Three members each, on the digits at sigma 0.25: the theory's bound on wrong votes (hold-out, estimated "
        "margins under noise and weight perturbation) for equal weights and for the best member, beside the ACR of "
        f"both on 500 test images with {N:,} votes. helps: the ensemble's ACR is above its best member's.",
        seed=SEED,
        interval="none: one draw each; see the evidence `ensembles` for three draws",
        figures={"ensembles": figures, "forecast_right": f"{agree} of {len(figures)}"},
    )


def _figures(name: str, members: list[tuple[str, int]]) -> dict[str, Any]:
    folders = []
    for method, seed in members:
        folders.append(METHODS / f"{method}-{SIGMA}-{seed}")
        sc.train(load_recipe(f"digits-{method}").config(sigma=SIGMA, seed=seed), out=folders[-1], resume=True)
    models = [load_model(folder)[0] for folder in folders]
    noise = sc.Gaussian(SIGMA)
    fit = fit_esbrs(models, sc.load_dataset("digits", "holdout"), noise, seed=SEED)
    ensembles = [sc.VotingEnsemble(models, "softmax", weights) for weights in (None, fit.weights)]
    panel = sc.Panel([ensemble.eval() for ensemble in ensembles], ["0", "1", "2", "equal", "esbrs"])
    runs = certify_panel(
        sc.SmoothedClassifier(panel, noise, 10),
        sc.load_dataset("digits"),
        outs={answer: WORK / name.replace(" ", "-").replace(",", "") / answer for answer in panel.names},
        procedure=sc.FixedSample(n=N),
        seed=SEED,
        resume=True,
        show_progress=True,
    )
    acr = {answer: run.average_radius() for answer, run in runs.items()}
    best = max(acr[str(member)] for member in range(len(members)))
    found = {
        "members": [f"{method}-{seed}" for method, seed in members],
        "member_acr": [acr[str(member)] for member in range(len(members))],
        "equal_acr": acr["equal"],
        "helps": acr["equal"] > best,
        "bound_on_wrong_votes": {"equal": fit.uniform_bound, "best member": fit.best_member_bound},
        "forecast_helps": fit.uniform_bound < fit.best_member_bound,
        "esbrs_weights": list(fit.weights),
        "esbrs_acr": acr["esbrs"],
    }
    print(name, found, flush=True)
    return found
