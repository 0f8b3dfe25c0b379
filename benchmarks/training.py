"""Part "training": what each method costs beside Gaussian training, and what the loop costs beside a bare one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from lightning_fabric import Fabric

from benchmarks.bare_training import BareTraining
from benchmarks.measure import Draw, alternate, ratio
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import SIGMA, Settings
from smoothcert.data import Dataset
from smoothcert.networks import create_model
from smoothcert.training import TrainConfig
from smoothcert.training.loop import Loop, make_optimizer
from smoothcert.training.materials import Materials

BARE, GAUSSIAN = "bare loop", "gaussian"
METHODS: dict[str, dict[str, Any]] = {
    GAUSSIAN: {},
    "stability": {},
    "consistency": {"m": 2},
    "smoothadv": {"m": 2, "steps": 2},
    "consistency-smoothadv": {"m": 2, "steps": 2},
    "macer": {"m": 4},
    "smoothmix": {"m": 2, "steps": 4},
    "advmacer": {"m": 4, "steps": 2},
}
NETWORK, SHAPE, CLASSES, LR = "resnet20", (3, 32, 32), 10, 1e-3
TOLERANCE, MOST_OVERHEAD = 0.15, 1.05


def run(settings: Settings) -> Part:
    """Let the methods take turns on made-up images, with the same number of copies per forward pass."""
    print(f"training: {NETWORK}", flush=True)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # as the package trains
    try:
        rivals: dict[str, Draw] = {BARE: _bare(settings)}
        costs = {}
        for method, hyper in METHODS.items():
            rivals[method], costs[method] = _method(method, hyper, settings)
        for draw in rivals.values():
            draw()
        rows = alternate("training", NETWORK, rivals, settings.training_repetitions)
    finally:
        torch.set_num_threads(threads)
    summary = {
        "batch": settings.training_batch,
        "overhead": asdict(ratio(rows, GAUSSIAN, BARE)),
        "methods": {
            method: {
                "settings": hyper,
                "implied": costs[method],
                "factor": asdict(ratio(rows, method, GAUSSIAN)),
            }
            for method, hyper in METHODS.items()
            if method != GAUSSIAN
        },
    }
    return Part([row.row() for row in rows], summary)


def _images(count: int) -> Dataset:
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(0, 256, (count, *SHAPE), generator=generator, dtype=torch.uint8)
    labels = torch.randint(0, CLASSES, (count,), generator=generator)
    return Dataset.from_arrays(images.numpy(), labels.numpy(), class_names=[str(c) for c in range(CLASSES)])


def _bare(settings: Settings) -> Draw:
    dataset = _images(settings.training_copies)
    images, labels = dataset.batch(range(len(dataset))), torch.from_numpy(dataset.labels.copy())
    model = create_model(NETWORK, num_classes=CLASSES, input_shape=SHAPE)
    return BareTraining(model, images, labels, sigma=SIGMA, batch=settings.training_batch, lr=LR)


def _method(method: str, hyper: dict[str, Any], settings: Settings) -> tuple[Draw, float]:
    """Return an epoch of a method over so many images that its copies fill whole batches, and its implied cost."""
    config = TrainConfig(
        model=NETWORK, method=method, settings=hyper, sigma=SIGMA, lr=LR, weight_decay=1e-4, augment=False
    )
    objective = config.objective()
    per_step = settings.training_batch // objective.copies
    batch = per_step if objective.batch_counts_images else settings.training_batch
    steps = max(
        1, round(settings.training_copies / settings.training_batch / objective.cost * objective.copies)
    )
    dataset = _images(per_step * steps)
    model = create_model(NETWORK, num_classes=CLASSES, input_shape=SHAPE)
    config = config.changed(batch_size=batch)
    fabric = Fabric(accelerator="cpu", devices=1)
    loop = Loop(fabric, model, make_optimizer(model, config), Materials(dataset), config, seed=0)
    return lambda: loop.epoch(0).images, objective.cost


def render(summary: dict[str, Any]) -> str:
    """Return the part's tables."""
    rows = []
    for method, found in summary["methods"].items():
        off = abs(found["factor"]["median"] / found["implied"] - 1)
        hyper = ", ".join(f"{name}={value}" for name, value in found["settings"].items())
        goal = verdict(off, most=TOLERANCE)
        rows.append(
            [method, hyper, f"{found['implied']:.2f}x", shown(found["factor"], 2) + "x", f"{off:.1%}", goal]
        )
    head = [
        "method",
        "settings",
        "passes implied",
        "time per image over Gaussian",
        "off by",
        "goal (as a share)",
    ]
    overhead = summary["overhead"]
    words = (
        f"ResNet-20 on 32x32 images, one thread, {summary['batch']} noisy copies per forward pass; an input-gradient "
        "pass counts two thirds. The loop (streams, loss parts, schedule, checks) over a bare PyTorch loop: "
        f"{shown(overhead, 3)}, {verdict(overhead['median'], most=MOST_OVERHEAD)}."
    )
    return f"### Training\n\n{words}\n\n{table(head, rows)}"
