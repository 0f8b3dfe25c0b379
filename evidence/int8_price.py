"""What int8 costs in certificates: trained networks and their quantised forms on the same images and the same noise."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from evidence.record import data_dir, record

import smoothcert as sc
from smoothcert.folders import read_card
from smoothcert.report import compare
from smoothcert.sampling import unpack

SEED, IMAGES, VOTES = 0, 500, 2_000
RESULTS = Path(__file__).parents[1] / "results"
WORK = Path(".evidence") / "int8_price"
MODELS = {
    "mnist-lenet-sigma0.5": (RESULTS / "mnist-sigma0.5" / "models" / "gaussian", "mnist", 0.5),
    "cifar10-resnet20-sigma0.25": (RESULTS / "cifar10-sigma0.25" / "models" / "gaussian-0", "cifar10", 0.25),
}


def make() -> None:
    """Quantise both networks on training images, certify both forms with one seed, compare image by image."""
    figures = {name: _price(name, *what) for name, what in MODELS.items()}
    record(
        "int8_price",
        about=f"Trained networks in float32 and in int8 (`smoothcert quantize`), {IMAGES} test images (every 20th), "
        f"the same seed, so the same noise: certified accuracy on a grid (sequential, at most {VOTES:,} votes), "
        "differences int8 - float32, and the share of votes that both cast alike on the same noisy image.",
        seed=SEED,
        interval="exact 95% interval of a paired difference over images, at each radius alone",
        figures=figures,
    )


def _price(name: str, folder: Path, dataset: str, sigma: float) -> dict[str, Any]:
    place = WORK / name
    if not (place / "int8").exists():
        train = sc.load_dataset(dataset, "train", data_dir(), holdout=0)
        sc.quantize(folder, train, place / "int8", seed=SEED, show_progress=True)
    test = sc.load_dataset(dataset, "test", data_dir())
    radii = tuple(
        round(step * sigma / 2, 3) for step in range(5)
    )  # up to two sigma: what so few votes can prove
    runs = {}
    for form, source in (("float32", folder), ("int8", place / "int8")):
        runs[form] = sc.certify(
            sc.load_classifier(source),
            test,
            procedure=sc.Sequential(radii=radii, max_samples=VOTES),
            seed=SEED,
            indices=range(0, 20 * IMAGES, 20),
            out=place / form,
            resume=True,
            show_progress=True,
        )
    found = compare(runs["float32"], runs["int8"], radii=radii)
    entry = read_card(place / "int8").quantized
    assert entry is not None
    differences = [one.difference for one in found.at]
    return {
        "quantised": entry.model_dump(mode="json", exclude={"candidates", "original", "holdout"}),
        "engines": {form: run.manifest["engine"] for form, run in runs.items()},
        "radii": list(radii),
        "certified_accuracy": {
            "float32": [one.a for one in found.at],
            "int8": [one.b for one in found.at],
        },
        "difference": differences,
        "interval": [one.interval for one in found.at],
        "mean_difference": float(np.mean(differences)),
        "votes_alike": _alike(place / "float32", place / "int8"),
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
