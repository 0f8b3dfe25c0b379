"""Part "bfloat16": training in bfloat16 beside float32, images per second and what is learnt."""

from __future__ import annotations

import time
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from benchmarks.measure import Measurement, of_rival, ratio, spread
from benchmarks.report import Part, shown, table
from benchmarks.settings import SIGMA, Settings
from smoothcert.data import Dataset, load_dataset
from smoothcert.engines import this_processor
from smoothcert.networks import create_model
from smoothcert.training import FLOAT32, TrainConfig, run_epochs
from smoothcert.training.materials import Materials

BFLOAT16 = "bf16-mixed"
CHANNELS = {"lenet": 1, "resnet20": 3}
SIDES = {"lenet": 28, "resnet20": 32}
HOLDOUT = 200


def run(settings: Settings) -> Part:
    """Train each network in both precisions, in turns, from the same weights on the same images."""
    rows, networks = [], {}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as the package trains
    try:
        for name, images in settings.bfloat16_images.items():
            print(f"bfloat16: {name}", flush=True)
            found, accuracies = _network(name, images, settings)
            rows += [row.row() for row in found]
            networks[name] = {
                "images": images,
                "epochs": settings.bfloat16_epochs,
                "times_as_long": asdict(ratio(found, BFLOAT16, FLOAT32)),
                "precisions": {
                    precision: {
                        "images_per_second": asdict(
                            spread([1 / row.seconds_per_vote for row in of_rival(found, precision)])
                        ),
                        "accuracy": accuracy,
                    }
                    for precision, accuracy in accuracies.items()
                },
            }
    finally:
        torch.set_num_threads(threads)
    return Part(rows, {"networks": networks, "instructions": this_processor().bfloat16})


def _network(name: str, images: int, settings: Settings) -> tuple[list[Measurement], dict[str, float]]:
    train_set, holdout_set = (
        _digits(name, split, most) for split, most in (("train", images), ("holdout", HOLDOUT))
    )
    rows: list[Measurement] = []
    accuracies: dict[str, list[float]] = {}
    for repetition in range(settings.bfloat16_repetitions):
        for precision in (FLOAT32, BFLOAT16):
            config = TrainConfig(
                model=name,
                sigma=SIGMA / 2,
                epochs=settings.bfloat16_epochs,
                batch_size=64,
                lr=0.05,
                precision=precision,
            )
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(repetition)
                model = create_model(
                    name, num_classes=10, input_shape=train_set.input_shape, **_normalised(CHANNELS[name])
                )
            start = time.perf_counter()
            state = run_epochs(
                model, Materials(train_set, holdout_set), config=config, seed=repetition, show_progress=False
            )
            print(f"  {precision}: {time.perf_counter() - start:.0f} s", flush=True)
            last = state.metrics[-1]
            rows.append(
                Measurement("bfloat16", name, precision, repetition, images, images / last.images_per_second)
            )
            accuracies.setdefault(precision, []).append(last.holdout_noisy_accuracy or 0.0)
    return rows, {precision: float(np.mean(found)) for precision, found in accuracies.items()}


def _normalised(channels: int) -> dict[str, Any]:
    return {"mean": (0.3,) * channels, "std": (0.35,) * channels}


def _digits(name: str, split: str, most: int) -> Dataset:
    """Return the embedded digits, each pixel four by four, as large as the network takes them."""
    digits, side = load_dataset("digits", split), SIDES[name]
    cut = (32 - side) // 2
    pixels: NDArray[np.uint8] = (digits.batch(range(most)) * 255).round().to(torch.uint8).numpy()
    kept = pixels.repeat(4, axis=2).repeat(4, axis=3)
    kept = kept[:, :, cut : 32 - cut, cut : 32 - cut].repeat(CHANNELS[name], axis=1)
    return Dataset.from_arrays(kept, digits.labels[:most], class_names=digits.class_names)


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = []
    for name, found in summary["networks"].items():
        for precision, about in found["precisions"].items():
            longer = "1" if precision == FLOAT32 else shown(found["times_as_long"], 2)
            rows.append(
                [
                    f"{name}, {found['images']} images, {found['epochs']} epochs",
                    precision,
                    shown(about["images_per_second"], 0),
                    longer,
                    f"{about['accuracy']:.1%}",
                ]
            )
    has = {True: "has", False: "has no", None: "may or may not have"}[summary["instructions"]]
    words = (
        f"Gaussian training of enlarged digits on one thread; this processor {has} instructions for bfloat16. Images "
        "per second of the last epoch, hold-out accuracy under noise after it, measured in float32."
    )
    head = ["training", "precision", "images per second", "times as long", "noisy hold-out accuracy"]
    return f"### Training in bfloat16\n\n{words}\n\n{table(head, rows)}"
