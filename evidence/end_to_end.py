"""Seconds per image of a whole certification at r = sigma: early stopping in int8 against ART.

Every image has exactly the share of votes that a published log gives it: a linear layer looks at the mean brightness
and outvotes a ResNet-20, whose whole cost is paid. ART draws all its votes whatever they say, so it gets the bare
network.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from benchmarks.art_rival import ArtRival
from benchmarks.int8 import quantised
from benchmarks.machine import busy_cores, describe, use_default_threads
from benchmarks.measure import Draw, spread, timed
from benchmarks.networks import load
from benchmarks.ours import SEED, Ours
from benchmarks.settings import N0, NUM_CLASSES, PLANNED_VOTES, SIGMA, cores
from benchmarks.shares import read_shares
from benchmarks.speed_table import ART
from benchmarks.wall_clock import certifies, planted_dataset
from evidence.record import FOLDER, record
from torch import nn

import smoothcert as sc
from smoothcert.atomic import write_atomically
from smoothcert.engines import this_processor

NETWORK, SHAPE, ROUNDS, GOAL = "resnet20", (3, 32, 32), 10, 200.0
INT8 = "ours, int8"
SHARES = FOLDER / "p_a_cifar10_resnet110.json"
WORK = Path(".evidence") / "end_to_end"
_OWN_WEIGHT = 1e-6  # of the ResNet's logits: too small to matter, and no engine can leave them out


def make() -> None:
    """Let ART certify an image, then ours a tenth of all images, ten times; finished rounds are kept."""
    kept = WORK / "rounds.json"
    state: dict[str, Any] = json.loads(kept.read_text()) if kept.exists() else {"rounds": [], "starts": []}
    if len(state["rounds"]) < ROUNDS:
        use_default_threads()
        state["starts"].append({"busy_cores": busy_cores(), "rounds_done": len(state["rounds"])})
        rivals, state["setting"] = _rivals()
        for number in range(len(state["rounds"]), ROUNDS):
            state["rounds"].append({name: _timed(draws[number], name) for name, draws in rivals.items()})
            WORK.mkdir(parents=True, exist_ok=True)
            write_atomically(kept, json.dumps(state))
    record(
        "end_to_end",
        about=f"One image certified by ART's certify (n = {PLANNED_VOTES:,}, its defaults, the bare float32 network), "
        f"{state['setting']['images']} images by GroupSequential at r = sigma in int8, ResNet-20 on "
        f"{'x'.join(map(str, SHAPE))}, vote shares of evidence/{SHARES.name}: seconds per image, run folders written. "
        f"{ROUNDS} rounds in turns, each an image of ART and a tenth of ours.",
        seed=SEED,
        interval="median with the smallest and the largest of the rounds; whole: all seconds over all images",
        figures=state["setting"] | {"starts": state["starts"]} | summed(state["rounds"]),
    )


def outvoted(network: nn.Module) -> sc.VotingEnsemble:
    """Return a network of `SHAPE` outvoted by the mean brightness, as in `benchmarks.networks.Planted`.

    Not `Planted` itself: this is made of the package's own parts, so every engine runs it as it runs any ensemble.
    """
    pixels = torch.Size(SHAPE).numel()
    score = nn.Linear(pixels, NUM_CLASSES)
    with torch.no_grad():
        score.weight.zero_()
        score.bias.fill_(-1.0)
        for side, sign in enumerate((-1.0, 1.0)):
            score.weight[side], score.bias[side] = sign * pixels**-0.5, -sign * 0.5 * pixels**0.5
    members = [nn.Sequential(nn.Flatten(), score), network]
    return sc.VotingEnsemble(members, weights=[1.0, _OWN_WEIGHT]).eval()


def summed(rounds: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    """Return seconds and votes per image, and how many times less than ART's each of ours takes."""
    seconds = {name: [row[name]["seconds"] / row[name]["images"] for row in rounds] for name in rounds[0]}
    votes = {name: [row[name]["votes"] / row[name]["images"] for row in rounds] for name in rounds[0]}
    totals = {
        name: sum(row[name]["seconds"] for row in rounds) / sum(row[name]["images"] for row in rounds)
        for name in rounds[0]
    }
    factors = {
        name: {
            "whole": totals[ART] / totals[name],
            "rounds": asdict(
                spread([art / own for art, own in zip(seconds[ART], seconds[name], strict=True)])
            ),
        }
        for name in rounds[0]
        if name != ART
    }
    return {
        "seconds_per_image": {name: asdict(spread(found)) for name, found in seconds.items()},
        "votes_per_image": {name: sum(found) / len(found) for name, found in votes.items()},
        "times_faster_than_art": factors,
        "goal": {"int8_at_least": GOAL, "reached": factors[INT8]["whole"] >= GOAL},
        "rounds": rounds,
    }


def _rivals() -> tuple[dict[str, list[tuple[Draw, int]]], dict[str, Any]]:
    """Return each rival's work by round, with its number of images, everybody warm; and what it is done with."""
    shares, network = read_shares(SHARES), load(NETWORK)
    dataset = planted_dataset(shares, SHAPE)
    blocks = [range(number, len(dataset), ROUNDS) for number in range(ROUNDS)]
    art = ArtRival(network.model, SHAPE, sigma=SIGMA, num_classes=NUM_CLASSES, n0=N0)
    art.certify(dataset.image(0), N0)
    rivals: dict[str, list[tuple[Draw, int]]] = {
        ART: [(_draw(art, dataset.image(block[0])), 1) for block in blocks],
    }
    ours = Ours(outvoted(quantised(network)), dataset.image(0), engine="auto", workers=cores())
    procedure = sc.GroupSequential(radius=SIGMA)
    rivals[INT8] = [(certifies(ours, dataset, procedure, block), len(block)) for block in blocks]
    setting: dict[str, Any] = {
        "engine": ours.engine.engine_name,
        "rows_per_batch": ours.batch,
        "setup_seconds": ours.setup_seconds,
    }
    about = {"processor": asdict(this_processor()), "machine": describe(), "images": len(dataset)}
    return rivals, setting | about | {"shares": shares.source}


def _draw(art: ArtRival, image: torch.Tensor) -> Draw:
    return lambda: art.certify(image, PLANNED_VOTES).votes


def _timed(work: tuple[Draw, int], name: str) -> dict[str, float]:
    draw, images = work
    votes, seconds = timed(draw)
    print(f"{name}: {images} images, {votes:,} votes, {seconds:.1f} s", flush=True)
    return {"images": images, "votes": votes, "seconds": seconds}
