"""How much a benchmark run measures."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

SIGMA = 0.5
NUM_CLASSES = 10
ALPHA = BETA = 0.001
N0 = 100
PLANNED_VOTES = 100_000
"""Votes of the certification that the engine is chosen for, whatever a measurement draws."""


def cores() -> int:
    """Return the cores this process may use."""
    return len(os.sched_getaffinity(0))


@dataclass(frozen=True)
class Settings:
    """Sizes of all parts. `FULL` takes about 20 minutes on two cores, `QUICK` under a minute.

    Args:
        engine: name of our engine; "auto" lets the package choose for `PLANNED_VOTES`.
        workers: our worker threads, also of the bare forward pass.
        networks: names in `benchmarks.networks.NETWORKS`.
        repetitions: alternations of the rivals.
        seconds: length of one measurement aimed at.
        least_batches: batches per worker that a measurement of ours has at least.
        calibration_seconds: time spent on each batch size when the best one is looked for.
        batches: batch sizes tried for the rivals' eager loop.
        peak_seconds: length of the matrix products that give the machine's peak.
        wall_images: images of the wall-clock part.
        wall_repetitions: its alternations.
        adaptive_images: images certified by CERTIFYADP image by image.
        adaptive_repetitions: its alternations.
        startup_rounds: times that every command is started.
        page_images: images of each run on a page.
        page_rounds: times that each page is made.
        memory_votes: votes for the one image whose memory is measured.
        memory_images: images whose memory is measured.
        line_votes: numbers of votes for the fitted exponent.
        line_images: numbers of images for the fitted exponent.
        line_repetitions: measurements per number.
        anatomy_networks: networks whose votes are taken apart.
        anatomy_repetitions: alternations there.
        anatomy_seconds: length of one measurement there.
        grid_networks: networks certified under each noise law.
        training_copies: noisy copies that Gaussian training steps through in one measurement.
        training_batch: noisy copies per step.
        training_repetitions: alternations of the training methods.
        heads_network: network that is given heads.
        heads: how many, and of how many separate networks.
        heads_repetitions: alternations there.
        heads_seconds: length of one measurement of the separate networks.
        ensembles_networks: networks of which ensembles of five are made.
        ensembles_repetitions: alternations there.
        ensembles_seconds: length of one measurement of the whole ensemble.
        noise_shapes: shapes of images, by their names in `benchmarks.noise`.
        noise_values: values of noise made in one measurement, about.
        bfloat16_images: training images by network.
        bfloat16_epochs: epochs of each training in either precision.
        bfloat16_repetitions: alternations there.
        cluster_network: network whose votes a Ray cluster draws.
        cluster_repetitions: alternations there.
        cluster_seconds: length of one measurement of two threads.
        serving_clients: clients of the service at once.
        serving_seconds: for which they predict, and then certify.
        serving_votes: of one certificate there.
    """

    engine: str = "auto"
    workers: int = 2
    networks: tuple[str, ...] = ("lenet", "resnet20", "resnet110", "ensemble5")
    repetitions: int = 5
    seconds: float = 2.0
    least_batches: int = 16
    calibration_seconds: float = 0.5
    batches: tuple[int, ...] = (32, 64, 128, 256, 1_000)
    peak_seconds: float = 1.0
    wall_images: int = 500
    wall_repetitions: int = 2
    adaptive_images: int = 60
    adaptive_repetitions: int = 3
    startup_rounds: int = 10
    page_images: int = 10_000
    page_rounds: int = 5
    memory_votes: int = 1_000_000
    memory_images: int = 10_000
    line_votes: tuple[int, ...] = (8_000, 16_000, 32_000, 64_000, 128_000)
    line_images: tuple[int, ...] = (125, 250, 500, 1_000, 2_000)
    line_repetitions: int = 2
    anatomy_networks: tuple[str, ...] = ("lenet", "resnet20", "resnet110")
    anatomy_repetitions: int = 3
    anatomy_seconds: float = 1.0
    grid_networks: tuple[str, ...] = ("resnet20", "lenet")
    training_copies: int = 512
    training_batch: int = 64
    training_repetitions: int = 3
    heads_network: str = "resnet110"
    heads: int = 5
    heads_repetitions: int = 5
    heads_seconds: float = 6.0
    ensembles_networks: tuple[str, ...] = ("lenet", "resnet20")
    ensembles_repetitions: int = 5
    ensembles_seconds: float = 3.0
    noise_shapes: tuple[str, ...] = ("lenet", "cifar", "imagenet")
    noise_values: int = 20_000_000
    bfloat16_images: Mapping[str, int] = field(default_factory=lambda: {"lenet": 1_024, "resnet20": 512})
    bfloat16_epochs: int = 3
    bfloat16_repetitions: int = 3
    cluster_network: str = "resnet20"
    cluster_repetitions: int = 5
    cluster_seconds: float = 15.0
    serving_clients: int = 64
    serving_seconds: float = 60.0
    serving_votes: int = 10_000


def full(engine: str) -> Settings:
    """Return the sizes that the published table is made with."""
    return Settings(engine=engine, workers=cores())


def quick(engine: str) -> Settings:
    """Return sizes that only show that everything works; no conclusion can be drawn from them."""
    return Settings(
        engine=engine,
        workers=cores(),
        networks=("lenet",),
        repetitions=2,
        seconds=0.1,
        least_batches=2,
        calibration_seconds=0.02,
        batches=(64, 1_000),
        peak_seconds=0.1,
        wall_images=20,
        wall_repetitions=1,
        adaptive_images=6,
        adaptive_repetitions=1,
        startup_rounds=1,
        page_images=50,
        page_rounds=1,
        memory_votes=5_000,
        memory_images=100,
        line_votes=(500, 1_000, 2_000),
        line_images=(10, 20, 40),
        line_repetitions=1,
        anatomy_networks=("lenet",),
        anatomy_repetitions=1,
        anatomy_seconds=0.1,
        grid_networks=("lenet",),
        training_copies=16,
        training_batch=8,
        training_repetitions=1,
        heads_network="resnet8",
        heads_repetitions=1,
        heads_seconds=0.1,
        ensembles_networks=("lenet",),
        ensembles_repetitions=1,
        ensembles_seconds=0.1,
        noise_shapes=("lenet",),
        noise_values=100_000,
        bfloat16_images={"lenet": 64},
        bfloat16_epochs=1,
        bfloat16_repetitions=1,
        cluster_network="lenet",
        cluster_repetitions=1,
        cluster_seconds=0.1,
        serving_clients=4,
        serving_seconds=2.0,
        serving_votes=1_000,
    )
