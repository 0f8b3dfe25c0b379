"""How long engines take for a vote, measured side by side."""

from __future__ import annotations

import time
from collections.abc import Mapping

import torch

from smoothcert.engines.engine import Engine
from smoothcert.engines.threads import single_threaded_torch
from smoothcert.noise import NoiseLaw

_HOPELESS = 2.0  # times as long as the best so far: not asked again
_CHUNK = 64  # noisy copies drawn at a time


def seconds_per_vote(engines: Mapping[str, Engine], noise: NoiseLaw, rounds: int) -> dict[str, float]:
    """Return seconds of one core per vote for engines of one model, the least of some rounds each.

    Not seconds of a clock on the wall: those of the processor count, which other programs on a busy machine hardly
    lengthen; engines take turns, so that what does lengthen them meets all alike. Passes are those of a worker: one
    thread, the rows that an engine likes, noisy copies of its image, of which no vote is counted.

    Args:
        engines: by name.
        noise: law of the noise.
        rounds: passes of each engine, after a first one that nobody looks at.
    """
    with single_threaded_torch():
        batches = {name: _noisy(engine, noise) for name, engine in engines.items()}
        for name, engine in engines.items():
            engine.checked(batches[name])
        best: dict[str, float] = {}
        for _ in range(rounds):
            hopeful = [
                name for name in engines if best.get(name, 0.0) <= _HOPELESS * min(best.values(), default=0.0)
            ]
            for name in hopeful:
                start = time.process_time()
                engines[name].checked(batches[name])
                taken = (time.process_time() - start) / len(batches[name])
                best[name] = min(taken, best.get(name, taken))
        return best


def _noisy(engine: Engine, noise: NoiseLaw) -> torch.Tensor:
    """Return a batch of the size that the engine likes, from a stream that no vote is drawn from."""
    generator = torch.Generator().manual_seed(0)
    batch = torch.empty((engine.best_rows, *engine.example.shape))
    for piece in torch.split(batch, _CHUNK):
        noise.perturb(engine.example, piece, generator)
    return batch
