"""A pool whose workers are elsewhere and may be lost at any moment; no vote is, and none is counted twice."""

from __future__ import annotations

import contextlib
import pickle
import time
from collections import deque
from collections.abc import Sequence
from contextlib import AbstractContextManager, ExitStack
from types import TracebackType
from typing import Any, ClassVar, Self

from smoothcert.engines import single_threaded_torch
from smoothcert.errors import WorkerError
from smoothcert.execution.cluster.crew import Crew, Idle, Worker, in_brief
from smoothcert.execution.cluster.greeting import ask, refusal
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.orders import Job, Orders
from smoothcert.execution.cluster.worker_setup import WorkerSetup
from smoothcert.sampling import Chunk, ChunkVotes, ImageFault, VoteSource, ran_out_of_memory

_TICK_SECONDS = 1.0  # between two looks at workers that say nothing
_QUEUED = 2  # jobs that a worker has: one under way, one ready
_SLACK = 20.0  # times what a job should take: then its worker hangs
_MOST_TRIES = 4  # workers that may be lost at one job
_START_SECONDS = 120.0  # that a run may be without any worker, beside its patience


class RayPool:
    """Workers of a Ray cluster, driven from one thread.

    A job whose worker dies, hangs or runs out of memory is given to another; its votes follow from its keys, so they
    are the same. Memory here is that of the jobs under way, two per worker.

    Args:
        source: what decides the votes.
        batch_size: most rows per forward pass.
        connection: is entered for the connection to the cluster.
        idle: processes that an earlier job left; this one leaves its own there.
        workers: how many at most; None for one per core or device.
        patience: seconds that a worker may be silent beyond what its job should take.
    """

    job_scale: ClassVar[int] = 10  # handing a job over costs milliseconds, not microseconds

    def __init__(
        self,
        source: VoteSource,
        batch_size: int,
        *,
        connection: AbstractContextManager[Any],
        idle: list[Idle],
        workers: int | None,
        patience: float,
    ) -> None:
        self.outstanding = 0
        self._source, self._batch_size, self._connection = source, batch_size, connection
        self._most, self._patience, self._idle = workers, patience, idle
        self._waiting: deque[Job] = deque()
        self._orders = Orders()
        self._stack = ExitStack()
        self._crew: Crew
        self._last_ready = 0.0

    def __enter__(self) -> Self:
        setup = WorkerSetup.of(self._source, self._batch_size)
        content = setup.packed()  # before a cluster is started in vain
        with ExitStack() as stack:
            stack.enter_context(self._connection)
            with single_threaded_torch():
                self._control = ask(self._source.sampler(self._batch_size))
            resource = "CPU" if setup.device == "cpu" else "GPU"
            self._crew = Crew(
                ray_library().put(content),
                resource,
                self._most,
                lambda greeting: refusal(greeting, self._control, setup.versions),
                self._idle,
            )
            stack.callback(self._crew.close)
            self._last_ready = time.monotonic()
            while not self._crew.ready:
                self.look_after()
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            # Also after Ctrl-C, when what was finished is kept.
            if not self._source.engine.shareable and (kind is None or issubclass(kind, KeyboardInterrupt)):
                self._ask_again()

    def _ask_again(self) -> None:
        ray, until = ray_library(), time.monotonic() + self._patience
        asked = []
        for worker in self._crew.ready:
            with contextlib.suppress(ray.exceptions.RayError):  # it is gone
                asked.append(worker.actor.answer_again.remote())
        for one in asked:
            with contextlib.suppress(ray.exceptions.RayError):  # it is gone, or busy
                answer = pickle.loads(ray.get(one, timeout=max(until - time.monotonic(), 0.0)))
                if isinstance(answer, BaseException):
                    raise answer
                self._control.refuse_other(answer)

    @property
    def workers(self) -> int:
        """Those that draw now; 1 while all of them are being replaced."""
        return max(1, len(self._crew.ready))

    @property
    def lost(self) -> int:
        """Workers that died, hung or ran out of memory."""
        return self._crew.lost

    @property
    def note(self) -> str:
        """How many workers there are, were lost and refused."""
        crew = self._crew
        told = [f"{len(crew.ready)} workers"]
        told += [f"{crew.lost} lost"] if crew.lost else []
        told += [f"{len(crew.refused)} machines refused"] if crew.refused else []
        return ", ".join(told)

    def submit(self, tags: Sequence[Any], chunks: Sequence[Chunk]) -> None:
        """Hand in one batch; `tags` come back beside the votes of their chunks."""
        self.outstanding += 1
        self._waiting.append(Job(tags, chunks))
        self._hand_out()

    def _hand_out(self) -> None:
        while self._waiting:
            free = [worker for worker in self._crew.ready if len(worker.jobs) < _QUEUED]
            if not free:
                return
            worker, job = min(free, key=lambda one: len(one.jobs)), self._waiting.popleft()
            order, large = self._orders.written(job)
            if not worker.jobs:
                worker.since = time.monotonic()
            worker.jobs.append((worker.actor.draw.remote(order, *large), job))

    def collect(self) -> list[tuple[Any, ChunkVotes | ImageFault]]:
        """Wait for one batch and return its (tag, votes) pairs, a fault for what an image is to blame for.

        Raises what a worker raised that is no image's fault; a worker that is lost is one of the pool's.
        """
        while True:
            for worker in self.look_after():
                if worker in self._crew.workers and (job := self._finished(worker)) is not None:
                    self.outstanding -= 1
                    return job

    def look_after(self) -> list[Worker]:
        """Start, meet and end workers for a moment; return those that have done their first job, or died at it."""
        self._crew.tend()
        self._hand_out()
        starting = {worker.greeting: worker for worker in self._crew.workers if not worker.ready}
        drawing = {worker.jobs[0][0]: worker for worker in self._crew.ready if worker.jobs}
        answered: set[Any] = set()
        if starting or drawing:
            ready, _ = ray_library().wait([*drawing, *starting], num_returns=1, timeout=_TICK_SECONDS)
            answered = set(ready)
        else:
            time.sleep(_TICK_SECONDS)
        for greeting in answered & starting.keys():
            self._crew.meet(starting[greeting])
        self._refuse_none()
        for worker in [worker for reference, worker in drawing.items() if reference not in answered]:
            self._end_if_hanging(worker)
        return [drawing[reference] for reference in answered & drawing.keys()]

    def _finished(self, worker: Worker) -> list[tuple[Any, ChunkVotes | ImageFault]] | None:
        """Return what a worker brought; None if it brought nothing, and its jobs wait for another."""
        reference, job = worker.jobs[0]
        try:
            result = pickle.loads(ray_library().get(reference))
        except Exception as error:  # its process or its machine is gone
            self._lose(worker, in_brief(error))
            return None
        if isinstance(result, BaseException):
            if ran_out_of_memory(result):
                self._lose(worker, f"it ran out of memory ({in_brief(result)})")
                return None
            raise result
        worker.jobs.popleft()
        worker.since = time.monotonic()
        parts = [
            (part.seconds, chunk.votes)
            for part, chunk in zip(result, job.chunks, strict=True)
            if isinstance(part, ChunkVotes)
        ]
        if parts:  # faults alone tell nothing about what a vote takes
            seconds, votes = map(sum, zip(*parts, strict=True))
            worker.seconds_per_vote = max(seconds / votes, worker.seconds_per_vote / 2)
        return list(zip(job.tags, result, strict=True))

    def _end_if_hanging(self, worker: Worker) -> None:
        expected = worker.seconds_per_vote * worker.jobs[0][1].votes
        silent = time.monotonic() - worker.since
        if silent > self._patience + _SLACK * expected:
            self._lose(worker, f"it said nothing for {silent:.0f} s at a job of about {expected:.1f} s")

    def _lose(self, worker: Worker, reason: str) -> None:
        """Give a lost worker's jobs to others; give up a job that several were lost at."""
        jobs = self._crew.lose(worker, reason)
        if jobs:
            jobs[0].fates.append(f"{worker.name}: {reason}")
            if len(jobs[0].fates) >= _MOST_TRIES:
                raise WorkerError(
                    f"{_MOST_TRIES} workers were lost drawing votes of {jobs[0].images}: {'; '.join(jobs[0].fates)}; "
                    "run again with a smaller batch_size, more memory or a repaired model (a stored run continues with "
                    "resume)"
                )
        self._waiting.extendleft(reversed(jobs))

    def _refuse_none(self) -> None:
        """Raise `WorkerError` if there is no worker and none to be hoped for."""
        now = time.monotonic()
        if self._crew.ready:
            self._last_ready = now
            return
        refused = "; ".join(self._crew.refused.values())
        waited = now - self._last_ready
        if waited > self._patience + _START_SECONDS or (refused and not self._crew.has_room):
            raise WorkerError(
                f"no worker of the Ray cluster can draw votes ({refused or f'none was free for {waited:.0f} s'}); "
                "repair the cluster or draw the votes here, without --ray (a stored run continues with resume)"
            )
