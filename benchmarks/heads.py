"""Part "heads": one network with several heads against as many separate networks, per vote."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import nn

import smoothcert as sc
from benchmarks.measure import Draw, alternate, rate, ratio, timed, whole_batches
from benchmarks.networks import CIFAR_MEAN, CIFAR_STD, settle
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, NUM_CLASSES, Settings
from smoothcert.engines import single_threaded_torch
from smoothcert.networks import forward_flops

SINGLE, HEADS, SEPARATE = "one network", "one network with heads", "separate networks"
MOST_OF_SEPARATE = 0.5
_SHAPE = (3, 32, 32)


def run(settings: Settings) -> Part:
    """Let the three take turns with the same number of votes."""
    name, count = settings.heads_network, settings.heads
    with torch.random.fork_rng(), single_threaded_torch():
        torch.manual_seed(0)
        image = torch.rand(_SHAPE)
        models = {
            SINGLE: _network(name),
            HEADS: _network(name, count),
            SEPARATE: sc.VotingEnsemble([_network(name) for _ in range(count)]).eval(),
        }
    ours = {}
    for rival, model in models.items():
        print(f"heads: {rival}", flush=True)
        ours[rival] = Ours(model, image, engine=settings.engine, workers=settings.workers)
    together = settings.workers * ours[SEPARATE].batch
    drawn, seconds = timed(lambda: ours[SEPARATE].certify(image, together).votes)
    n = whole_batches(settings.heads_seconds * drawn / seconds, together)
    rivals: dict[str, Draw] = {
        rival: (lambda mine=mine: mine.certify(image, n).votes)  # type: ignore[misc]
        for rival, mine in ours.items()
    }
    measured = alternate("heads", name, rivals, settings.heads_repetitions)
    flops = {rival: forward_flops(model, image) for rival, model in models.items()}
    summary = {
        "network": name,
        "heads": count,
        "votes": N0 + n,
        "engine": {rival: mine.engine.engine_name for rival, mine in ours.items()},
        "setup_seconds": {rival: mine.setup_seconds for rival, mine in ours.items()},
        "parameters": {rival: sum(w.numel() for w in model.parameters()) for rival, model in models.items()},
        "gigaflops": {rival: number / 1e9 for rival, number in flops.items()},
        "flops_over_separate": {rival: number / flops[SEPARATE] for rival, number in flops.items()},
        "votes_per_second": {rival: asdict(rate(measured, rival)) for rival in rivals},
        "time_over_separate": {rival: asdict(ratio(measured, rival, SEPARATE)) for rival in rivals},
    }
    return Part([m.row() for m in measured], summary)


def _network(name: str, heads: int | None = None) -> nn.Module:
    model = sc.create_model(name, num_classes=NUM_CLASSES, mean=CIFAR_MEAN, std=CIFAR_STD, heads=heads)
    return settle(model, _SHAPE, passes=2, rows=32)


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    goals = {HEADS: verdict(summary["time_over_separate"][HEADS]["median"], most=MOST_OF_SEPARATE)}
    rows = [
        [
            rival,
            f"{summary['parameters'][rival]:,}",
            f"{summary['gigaflops'][rival] / 2:.3f}",
            f"{summary['flops_over_separate'][rival]:.3f}",
            shown(summary["votes_per_second"][rival], 0),
            shown(summary["time_over_separate"][rival], 3),
            goals.get(rival, ""),
        ]
        for rival in summary["votes_per_second"]
    ]
    engines = ", ".join(dict.fromkeys(summary["engine"].values()))
    about = (
        f"{summary['network']} with {summary['heads']} heads from its last residual stage on, against "
        f"{summary['heads']} separate networks whose logits are averaged; {summary['votes']:,} votes each, engine "
        f"{engines}. Multiply-adds as the paper counts them (.594 and 1.280 for ResNet-110)."
    )
    head = [
        "classifier",
        "parameters",
        "10^9 multiply-adds",
        "of the separate ones'",
        "votes per second",
        "time per vote over separate",
        "goal",
    ]
    return f"### Heads\n\n{about}\n\n{table(head, rows)}"
