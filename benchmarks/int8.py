"""Part "int8": votes per second of networks quantised to int8, beside the same networks in float32, and ART."""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

import smoothcert as sc
from benchmarks.art_rival import art_draw
from benchmarks.bare_forward import BareForward
from benchmarks.measure import Draw, Measurement, alternate, rate, ratio, timed, whole_batches
from benchmarks.networks import Network, load
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, NUM_CLASSES, SIGMA, Settings
from benchmarks.speed_table import ART
from smoothcert.engines import this_processor
from smoothcert.folders import ModelCard, save_checkpoint
from smoothcert.networks import normalisation_of

FLOAT32, INT8, BARE = "ours, float32", "ours, int8", "bare forward, int8"
LEAST_OVER_FLOAT32 = {"lenet": 2.0, "resnet20": 2.5, "resnet110": 2.5, "ensemble5": 2.4}
LEAST_OVER_ART = {"lenet": 4.0, "resnet20": 4.0, "resnet110": 3.8}
MOST_OVERHEAD = {"lenet": 1.35, "resnet20": 1.15, "resnet110": 1.15, "ensemble5": 1.15}
_HOLDOUT = 64  # random images: ranges set by them cost the same as true ones
_CLASSES = tuple(str(number) for number in range(NUM_CLASSES))


def run(settings: Settings) -> Part:
    """Quantise every network and let both forms take turns."""
    rows, networks = [], {}
    for name in settings.networks:
        print(f"int8: {name}", flush=True)
        measurements, networks[name] = measure_network(load(name), settings)
        rows += [one.row() for one in measurements]
    processor = this_processor()
    return Part(rows, {"processor": asdict(processor), "networks": networks})


def measure_network(network: Network, settings: Settings) -> tuple[list[Measurement], dict[str, Any]]:
    """Quantise, let the rivals take turns, and sum up."""
    how: dict[str, Any] = {"engine": settings.engine, "workers": settings.workers}
    float32, int8 = Ours(network.model, network.image, **how), Ours(quantised(network), network.image, **how)
    bare = BareForward(int8.engine, network.image, workers=settings.workers, batch=int8.batch)
    together = settings.workers * int8.batch
    drawn, seconds = timed(lambda: bare(2 * together))
    n = max(whole_batches(settings.seconds * drawn / seconds, together), settings.least_batches * together)
    rivals: dict[str, Draw] = {
        FLOAT32: lambda: float32.certify(network.image, n // 2).votes,
        INT8: lambda: int8.certify(network.image, n).votes,
        BARE: lambda: bare(N0 + n),
    }
    if importlib.util.find_spec("art") is not None and network.name in LEAST_OVER_ART:
        rivals[ART] = art_draw(network, settings.seconds)
    rows = alternate("int8", network.name, rivals, settings.repetitions)
    return rows, {
        "engines": {"float32": float32.engine.engine_name, "int8": int8.engine.engine_name},
        "votes_per_second": {name: asdict(rate(rows, name)) for name in rivals},
        "over": {name: asdict(ratio(rows, name, INT8)) for name in (FLOAT32, ART) if name in rivals},
        "overhead": asdict(ratio(rows, INT8, BARE)),
    }


def quantised(network: Network) -> nn.Module:
    """Return a network, or every member of an ensemble, in int8, made through folders as users make them."""
    members = list(network.model.members) if isinstance(network.model, sc.VotingEnsemble) else [network.model]
    shape = tuple(network.image.shape)
    draws = np.random.default_rng(0)
    holdout = sc.Dataset.from_arrays(
        draws.integers(0, 256, (_HOLDOUT, *shape), dtype=np.uint8),
        np.arange(_HOLDOUT) % NUM_CLASSES,
        split="holdout",
        class_names=_CLASSES,
    )
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place) / f"float32-{number}" for number in range(len(members))]
        for member, folder in zip(members, folders, strict=True):
            save_checkpoint(member, _card(network.name, member, shape), folder)
        source = folders[0]
        if len(folders) > 1:
            source = Path(place) / "float32"
            sc.save_ensemble(folders, source)
        sc.quantize(source, holdout, Path(place) / "int8", images=_HOLDOUT, draws=1, seed=0)
        return sc.load_model(Path(place) / "int8")[0]


def _card(name: str, member: nn.Module, shape: tuple[int, ...]) -> ModelCard:
    """Return the card of one of the networks."""
    first = normalisation_of(member)
    assert first is not None
    return ModelCard(
        architecture="resnet20" if name == "ensemble5" else name,
        num_classes=NUM_CLASSES,
        input_shape=shape,
        mean=tuple(first.mean.flatten().tolist()),
        std=tuple(first.std.flatten().tolist()),
        method="gaussian",
        noise={"name": "gaussian", "sigma": SIGMA},
        dataset={"name": "random", "digest": "random"},
        training={},
        metrics={},
        class_names=_CLASSES,
    )


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    rates, goals = [], []
    for name, found in summary["networks"].items():
        engines = ", ".join(f"{what} {engine}" for what, engine in found["engines"].items())
        rates += [
            [name, rival, shown(speed, 0), engines] for rival, speed in found["votes_per_second"].items()
        ]
        for rival, least in ((FLOAT32, LEAST_OVER_FLOAT32), (ART, LEAST_OVER_ART)):
            if rival in found["over"]:
                factor = found["over"][rival]
                goal = verdict(factor["median"], least=least.get(name))
                goals.append([name, f"int8 over {rival}", shown(factor, 2) + "x", goal])
        over = found["overhead"]
        goal = verdict(over["median"], most=MOST_OVERHEAD.get(name))
        goals.append([name, "time over bare forward in int8, noise not in it", shown(over, 3), goal])
    vnni = {True: "has", False: "has no", None: "may have"}[summary["processor"]["int8"]]
    words = (
        f"The processor {vnni} instructions for int8 (VNNI and its like), which the goals take for granted."
    )
    head = ["network", "rival", "votes per second", "engines"]
    second = table(["network", "ratio", "median (range)", "goal"], goals)
    return f"### int8\n\n{words}\n\n{table(head, rates)}\n\n{second}"
