"""What int8 costs in certificates: trained networks and their quantised forms on the same images and the same noise."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from evidence.record import data_dir, record

import smoothcert as sc
from smoothcert.engines import this_processor
from smoothcert.folders import read_card
from smoothcert.report import compare
from smoothcert.sampling import unpack

SEED, IMAGES, VOTES = 0, 500, 2_000
RESULTS = Path(__file__).parents[1] / "results"
WORK = Path(".evidence") / "int8_price"
MODELS = {
    "mnist-lenet-sigma0.5": (RESULTS / "mnist-methods" / "models" / "sigma-0.5" / "gaussian-0", "mnist", 0.5),
    "cifar10-resnet20-sigma0.25": (
        RESULTS / "cifar10-ensembles" / "models" / "sigma-0.25" / "gaussian-20-0",
        "cifar10",
        0.25,
    ),
}
TUNING = {"cifar10-resnet20-sigma0.25": {"epochs": 2, "lr": 0.004}}
"""Networks that are also trained on with simulated rounding before they are quantised, because plain int8 cost more."""

MORE = {"cifar10-resnet20-sigma0.25": (0.5, 5)}
"""Radius that is asked about alone on every so manieth image, where 500 images left a doubt."""


def make() -> None:
    """Quantise both networks on training images, certify both forms with one seed, compare image by image."""
    figures = {name: _price(name, *what) for name, what in MODELS.items()}
    record(
        "int8_price",
        about=f"Trained networks in float32 and in int8 (`smoothcert quantize`), {IMAGES} test images (every 20th), "
        f"the same seed, so the same noise: certified accuracy on a grid (sequential, at most {VOTES:,} votes), "
        "differences int8 - float32, and the share of votes that both cast alike on the same noisy image. "
        "`tuned` was trained on with simulated rounding before it was quantised; it is compared with the float32 "
        "network that it started from, and with itself in float32.",
        seed=SEED,
        interval="exact 95% interval of a paired difference over images, at each radius alone",
        figures=figures,
    )


def _price(name: str, folder: Path, dataset: str, sigma: float) -> dict[str, Any]:
    place = WORK / name
    # Up to two sigma: what so few votes can prove.
    radii = tuple(round(step * sigma / 2, 3) for step in range(5))
    _quantise(folder, dataset, place / "models" / "int8")
    forms = {"float32": folder, "int8": place / "models" / "int8"}
    if name in TUNING:
        tuned = place / "models" / "tuned-float32"
        sc.train(_tuning(folder, **TUNING[name]), tuned, resume=True, show_progress=True)
        _quantise(tuned, dataset, place / "models" / "tuned")
        forms |= {"tuned-float32": tuned, "tuned": place / "models" / "tuned"}
    test = sc.load_dataset(dataset, "test", data_dir())
    runs = {
        form: sc.certify(
            sc.load_classifier(source),
            test,
            procedure=sc.Sequential(radii=radii, max_samples=VOTES),
            seed=SEED,
            indices=range(0, 20 * IMAGES, 20),
            out=place / form,
            resume=True,
            show_progress=True,
        )
        for form, source in forms.items()
    }
    told: dict[str, Any] = {
        "radii": list(radii),
        "engines": {form: run.manifest["engine"] for form, run in runs.items()},
        "quantised": {form: _entry(forms[form]) for form in forms if not form.endswith("float32")},
    }
    told["int8"] = _compared(runs, place, "float32", "int8", radii)
    if name in MORE:
        told["more_images"] = _more(place, forms, test, *MORE[name])
    if name in TUNING:
        told["tuning"] = TUNING[name]
        told["tuned"] = _compared(runs, place, "float32", "tuned", radii)
        told["tuned_against_itself"] = _compared(runs, place, "tuned-float32", "tuned", radii)
    return told


def _more(place: Path, forms: dict[str, Path], test: sc.Dataset, radius: float, every: int) -> dict[str, Any]:
    """Return the price at one radius on more images."""
    runs = {
        f"{form}-more": sc.certify(
            sc.load_classifier(forms[form]),
            test,
            procedure=sc.Sequential(radius=radius, max_samples=VOTES),
            seed=SEED,
            indices=range(0, len(test), every),
            out=place / f"{form}-more",
            resume=True,
            show_progress=True,
        )
        for form in ("float32", "int8")
    }
    return {
        "images": len(range(0, len(test), every)),
        "radius": radius,
        **_compared(runs, place, *runs, (radius,)),
    }


def _quantise(folder: Path, dataset: str, out: Path) -> None:
    if not out.exists():
        train = sc.load_dataset(dataset, "train", data_dir(), holdout=0)
        sc.quantize(folder, train, out, seed=SEED, show_progress=True)


def _tuning(folder: Path, epochs: int, lr: float) -> dict[str, Any]:
    """Return the network's own training, begun with its weights, for a few epochs at a small rate, rounded."""
    rounding = "seven-bits" if this_processor().int8 is False else "int8"
    own = {**read_card(folder).training, "data_dir": data_dir(), "start": str(folder)}
    own.pop("recipe"), own.pop("recipe_epochs", None)
    return {
        **own,
        "epochs": epochs,
        "lr": lr,
        "schedule": "one-cycle",
        "milestones": (),
        "rounding": rounding,
    }


def _entry(folder: Path) -> dict[str, Any]:
    entry = read_card(folder).quantized
    assert entry is not None
    return entry.model_dump(mode="json", exclude={"candidates", "original", "holdout"})


def _compared(
    runs: dict[str, sc.Run], place: Path, a: str, b: str, radii: tuple[float, ...]
) -> dict[str, Any]:
    """Return certified accuracy of two forms, their differences with intervals, and how many votes they share."""
    found = compare(runs[a], runs[b], radii=radii)
    differences = [one.difference for one in found.at]
    return {
        "certified_accuracy": {a: [one.a for one in found.at], b: [one.b for one in found.at]},
        "difference": differences,
        "interval": [one.interval for one in found.at],
        "mean_difference": float(np.mean(differences)),
        "votes_alike": _alike(place / a, place / b),
    }


def _alike(a: Path, b: Path) -> dict[str, float]:
    """Return of how many votes both runs have, on the same noisy images, and which share was cast alike."""
    first, second = _votes(a), _votes(b)
    drawn = alike = 0
    for key in first.keys() & second.keys():
        common = min(len(first[key]), len(second[key]))
        drawn += common
        alike += int((first[key][:common] == second[key][:common]).sum())
    return {"votes": drawn, "share": alike / drawn}


def _votes(folder: Path) -> dict[tuple[int, str], Any]:
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection:
        rows = connection.execute("SELECT idx, phase, packed FROM votes").fetchall()
    return {(index, phase): unpack(packed, 10) for index, phase, packed in rows}
