"""Part "anatomy": where a vote's time goes, ours and ART's; the profile beside the goals that are not reached."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import torch
from torch import nn

import smoothcert as sc
from benchmarks.art_rival import ArtRival
from benchmarks.bare_forward import BareForward
from benchmarks.machine import on_every_core, peak_gflops
from benchmarks.measure import Draw, Measurement, alternate, of_rival, spread, whole_batches
from benchmarks.networks import Network, load
from benchmarks.ours import SEED, Ours
from benchmarks.report import Part, shown, table
from benchmarks.settings import N0, NUM_CLASSES, SIGMA, Settings
from smoothcert.networks import forward_flops
from smoothcert.sampling import CHUNK_VOTES, Chunk, Sampler

STEPS = ("forward", "noise and forward", "noise, forward, counting", "whole certification")
ART, ART_FORWARD = "ART", "ART, its forward passes"


def run(settings: Settings) -> Part:
    """Time each step of ours with the one before it, and the forward passes inside ART."""
    rows, networks = [], {}
    for name in settings.anatomy_networks:
        print(f"anatomy: {name}", flush=True)
        found, networks[name] = _network(load(name), settings)
        rows += [row.row() for row in found]
    return Part(rows, {"networks": networks, "workers": settings.workers})


def _network(network: Network, settings: Settings) -> tuple[list[Measurement], dict[str, Any]]:
    ours = Ours(network.model, network.image, engine=settings.engine, workers=settings.workers)
    bare = BareForward(ours.engine, network.image, workers=settings.workers, batch=ours.batch)
    together = settings.workers * ours.batch
    start = time.perf_counter()
    bare(2 * together)
    per_vote = (time.perf_counter() - start) / (2 * together)
    votes = max(1, round(settings.anatomy_seconds / per_vote / together)) * together
    jobs: dict[str, Draw] = dict(
        zip(
            STEPS,
            (
                lambda: bare(votes),
                lambda: _by_hand(ours, network, votes, lambda s, c: s.engine.forward(s.noisy_images(c))),
                lambda: _by_hand(ours, network, votes, lambda s, c: s.draw(c)),
                lambda: ours.certify(network.image, votes - N0).votes,
            ),
            strict=True,
        )
    )
    inside: list[float] = []
    if importlib.util.find_spec("art") is not None:
        jobs[ART] = _art(network, settings, inside)
    rows = alternate("anatomy", network.name, jobs, settings.anatomy_repetitions)
    micro = {
        name: asdict(spread([1e6 * row.seconds_per_vote for row in of_rival(rows, name)])) for name in jobs
    }
    if inside:
        micro[ART_FORWARD] = asdict(
            spread([1e6 * value for value in inside[-settings.anatomy_repetitions :]])
        )
    peak = peak_gflops(settings.peak_seconds).high
    return rows, {
        "microseconds_per_vote": micro,
        "at_peak": forward_flops(network.model, network.image) / peak / 1e3,
        "engine": ours.engine.engine_name,
    }


def _by_hand(ours: Ours, network: Network, votes: int, work: Callable[[Sampler, list[Chunk]], Any]) -> int:
    """Let every worker do its share of the votes with a sampler of its own, without a scheduler."""
    chunks = max(1, ours.batch // CHUNK_VOTES)

    def share(number: int) -> None:
        sampler = Sampler(ours.engine, sc.Gaussian(SIGMA), seed=SEED, batch_size=ours.batch)
        for first in range(0, votes // ours.workers // CHUNK_VOTES, chunks):
            work(
                sampler,
                [Chunk(network.image, number, "estimate", first + i, CHUNK_VOTES) for i in range(chunks)],
            )

    on_every_core(share, ours.workers)
    return votes


def _art(network: Network, settings: Settings, inside: list[float]) -> Draw:
    """Return ART's certification; the seconds per vote of its forward passes go to `inside`."""
    art = ArtRival(network.model, tuple(network.image.shape), sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0)
    start = time.perf_counter()
    drawn = art.certify(network.image, N0).votes
    n = whole_batches(settings.anatomy_seconds * drawn / (time.perf_counter() - start), 32)

    def draw() -> int:
        spent = [0.0]
        with _timed_forward(art.network, spent):
            votes = art.certify(network.image, n).votes
        inside.append(spent[0] / votes)
        return votes

    return draw


@contextmanager
def _timed_forward(model: nn.Module, spent: list[float]) -> Iterator[None]:
    """Add up the seconds of a module's forward passes."""
    starts: list[float] = []

    def before(module: nn.Module, given: tuple[torch.Tensor, ...]) -> None:
        starts.append(time.perf_counter())

    def after(module: nn.Module, given: tuple[torch.Tensor, ...], answer: torch.Tensor) -> None:
        spent[0] += time.perf_counter() - starts.pop()

    handles = [model.register_forward_pre_hook(before), model.register_forward_hook(after)]
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = []
    for name, found in summary["networks"].items():
        micro = found["microseconds_per_vote"]
        rows.append(
            [name, f"matrix work at the machine's peak ({found['engine']})", f"{found['at_peak']:.1f}", ""]
        )
        ours = micro[STEPS[0]]["median"]
        for step, value in micro.items():
            rows.append([name, step, shown(value, 1), f"{value['median'] / ours:.3f}"])
    words = (
        "Microseconds of wall clock per vote with all cores at work; each of our lines adds a step to the one before. "
        "A measurement is a second long, so the fixed cost of a certification (probe, last batch) shows on deep "
        "networks; the overhead is in the table above. The last two lines say how much of ART's time are its own "
        "forward passes."
    )
    head = ["network", "what", "microseconds per vote", "over our forward"]
    return f"### Anatomy of a vote\n\n{words}\n\n{table(head, rows)}"
