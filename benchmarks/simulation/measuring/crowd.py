"""A crowd of workers in one process of a real Ray cluster: their votes are made up, and they sleep instead of drawing.

For the driver they are like any others: it sends the same orders over the same paths and waits for as many answers. So
what a thousand workers cost their driver can be measured where there are two cores.
"""

from __future__ import annotations

import asyncio
import os
import pickle
from contextlib import ExitStack, nullcontext
from types import SimpleNamespace, TracebackType
from typing import Any, Self
from unittest import mock

import numpy as np
from typing_extensions import override

from benchmarks.simulation.made_up_votes import MadeUpVotes
from smoothcert.execution import Execution
from smoothcert.execution.cluster.connection import connected
from smoothcert.execution.cluster.greeting import Greeting, ask
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.ray_pool import RayPool
from smoothcert.execution.cluster.worker_setup import WorkerSetup
from smoothcert.sampling import ChunkVotes, Pool, VoteSource

_NO_OTHERS = {"RAY_prestart_worker_first_driver": "0", "RAY_enable_worker_prestart": "0"}
"""Ray would start a process for each core that the cluster claims to have."""


class Hall:
    """Where the crowd sits: draws nothing, but answers orders as `VoteWorker` does; made by Ray.

    Args:
        votes: what each chunk brings.
        vote_seconds: what a vote is said to take.
        sleeps: whether it takes that long; else answers come at once.
    """

    def __init__(self, votes: MadeUpVotes, vote_seconds: float, sleeps: bool) -> None:
        self._votes, self._vote_seconds, self._sleeps = votes, vote_seconds, sleeps
        self._greeting = b""
        self._turns: dict[int, asyncio.Lock] = {}

    async def greet(self, seat: int, packed: bytes) -> bytes:
        """Greet as a real worker would; only the first has to find out what to say."""
        self._turns.setdefault(seat, asyncio.Lock())
        if not self._greeting:
            setup = WorkerSetup.unpacked(packed)
            control = ask(setup.sampler())
            self._greeting = pickle.dumps(
                Greeting("crowd", setup.versions, control.answers, self._vote_seconds)
            )
        return self._greeting

    async def draw(self, seat: int, order: bytes, *large: Any) -> bytes:
        """Answer an order when this seat's earlier ones are answered and its own time is over."""
        async with self._turns[seat]:
            _, wanted = pickle.loads(order)
            drawn = [self._drawn(*key) for _, *key in wanted]
            if self._sleeps:
                await asyncio.sleep(sum(part.seconds for part in drawn))
        return pickle.dumps(drawn)

    def _drawn(self, index: int, phase: str, number: int, votes: int) -> ChunkVotes:
        counted = self._votes.of(index, phase, number, votes)
        kind = np.uint8 if len(counted) < 256 else np.uint16
        single = np.repeat(np.arange(len(counted), dtype=kind), counted)
        return ChunkVotes(counted[None], np.array([votes]), self._vote_seconds * votes, single[None])


class Seat:
    """One worker of the crowd, as Ray's handle of a worker looks to the driver."""

    def __init__(self, hall: Any, number: int) -> None:
        self.greet = SimpleNamespace(remote=lambda setup: hall.greet.remote(number, setup))
        self.draw = SimpleNamespace(remote=lambda *order: hall.draw.remote(number, *order))


class Crowd(Execution):
    """A Ray cluster of this machine that claims to have as many cores as are wanted, and a crowd for each run.

    Args:
        cores: most workers of a crowd.
    """

    def __init__(self, cores: int) -> None:
        self._cores, self._stack, self._depth = cores, ExitStack(), 0
        self.workers = 0
        self.hall: Any = None

    @override
    def __enter__(self) -> Self:
        if self._depth == 0:
            with mock.patch.dict(os.environ, _NO_OTHERS):
                self._stack.enter_context(connected(None, self._cores))
        self._depth += 1
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._depth -= 1
        if self._depth == 0:  # each run enters it too
            self.hall = None
            self._stack.close()

    def gather(self, workers: int, votes: MadeUpVotes, vote_seconds: float, *, sleeps: bool) -> None:
        """Replace the crowd by another.

        Args:
            workers: how many it has.
            votes: what each chunk brings.
            vote_seconds: what a vote is said to take.
            sleeps: whether it takes that long; else answers come at once.
        """
        if self.hall is not None:
            ray_library().kill(self.hall)
        kind = ray_library().remote(Hall).options(num_cpus=1, max_concurrency=4 * workers)
        self.workers, self.hall = workers, kind.remote(votes, vote_seconds, sleeps)

    @override
    def pool(self, source: VoteSource, batch_size: int) -> Pool:
        node = ray_library().nodes()[0]["NodeID"]
        seats = [(node, "CPU", Seat(self.hall, number)) for number in range(self.workers)]
        return RayPool(
            source, batch_size, connection=nullcontext(), idle=seats, workers=self.workers, patience=600.0
        )
