"""The denominator of the overhead: forward passes on ready-made batches, and nothing else.

The same engine object, the same number of single-threaded threads and the same rows per batch as `ours`; no
noise, no counting, no order, no certificate.
"""

from __future__ import annotations

from collections import deque

import torch

from benchmarks.machine import on_every_core
from smoothcert.engines import Engine
from smoothcert.networks import MIN_ROWS


class BareForward:
    """Runs an engine on batches that are there already.

    Args:
        engine: executes the network.
        image: gives the shape of the batches.
        workers: threads.
        batch: rows per forward pass.
    """

    def __init__(self, engine: Engine, image: torch.Tensor, *, workers: int, batch: int) -> None:
        self.engine, self.workers, self.batch = engine, workers, batch
        generator = torch.Generator().manual_seed(1)
        self._ready = [
            torch.randn((max(batch, MIN_ROWS), *image.shape), generator=generator) for _ in range(workers)
        ]

    def __call__(self, votes: int) -> int:
        """Push `votes` rows through the engine and return how many there were.

        Whoever is free takes the next batch, so that no worker idles for another; the last batch may be short.
        """
        sizes = deque([self.batch] * (votes // self.batch))
        if votes % self.batch:
            sizes.append(max(votes % self.batch, MIN_ROWS))

        def work(number: int) -> None:
            ready = self._ready[number]
            while True:
                try:
                    rows = sizes.popleft()
                except IndexError:
                    return
                self.engine.forward(ready[:rows])

        on_every_core(work, self.workers)
        return votes
