"""The workers of a cluster: one per core or device of every machine, replaced when they are lost."""

from __future__ import annotations

import contextlib
import logging
import pickle
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from smoothcert.execution.cluster.greeting import Greeting
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.orders import Job
from smoothcert.execution.cluster.vote_worker import VoteWorker

_TEND_SECONDS = 2.0  # between two looks at which machines there are
_MOST_FALSE_STARTS = 3  # of a machine, in a row: then it is left alone
_log = logging.getLogger("smoothcert")


Idle = tuple[str, str, Any]
"""Machine, what it takes one of, and Ray's handle."""


@dataclass(eq=False)
class Worker:
    """One worker, from the moment it is asked for.

    Args:
        actor: Ray's handle.
        node: Ray's name of its machine.
        greeting: reference to what it will say of itself.
    """

    actor: Any
    node: str
    greeting: Any
    name: str = "a worker that has not started"
    ready: bool = False
    seconds_per_vote: float = 0.0
    jobs: deque[tuple[Any, Job]] = field(default_factory=deque)  # the first is under way
    since: float = 0.0  # when that one was begun


class Crew:
    """Starts workers where there is room, and keeps count of those that were lost or refused.

    Args:
        setup: reference to a packed `WorkerSetup`, which goes to every machine once.
        resource: what each takes one of: "CPU" or "GPU".
        most: number of workers at most; None for one wherever there is room.
        refusal: says why a worker must not vote.
        idle: processes that an earlier job left, which save the seconds of starting others.
    """

    def __init__(
        self,
        setup: Any,
        resource: str,
        most: int | None,
        refusal: Callable[[Greeting], str | None],
        idle: list[Idle],
    ) -> None:
        self._idle = idle
        self._ray, self._setup, self._resource, self._most = ray_library(), setup, resource, most
        self._refusal = refusal
        self.workers: list[Worker] = []
        self.lost = 0
        self.refused: dict[str, str] = {}  # reason by machine
        self._false_starts: Counter[str] = Counter()
        self._next_look = 0.0
        self._kind = self._ray.remote(VoteWorker)

    @property
    def ready(self) -> list[Worker]:
        """Those that may draw."""
        return [worker for worker in self.workers if worker.ready]

    @property
    def has_room(self) -> bool:
        """Whether a machine is there that was not refused."""
        return any(True for _ in self._room())

    def tend(self) -> None:
        """Ask for a worker wherever a machine has room for one more; looks every two seconds."""
        if time.monotonic() < self._next_look:
            return
        self._next_look = time.monotonic() + _TEND_SECONDS
        on = Counter(worker.node for worker in self.workers)
        for node in self._room():
            if on[node] > 0:
                on[node] -= 1
            elif self._most is None or len(self.workers) < self._most:
                self._start(node)

    def _room(self) -> Iterator[str]:
        """Yield every machine that is there and not refused, once per worker that it has room for."""
        for node in self._ray.nodes():
            if node["Alive"] and node["NodeID"] not in self.refused:
                for _ in range(int(node["Resources"].get(self._resource, 0))):
                    yield node["NodeID"]

    def _start(self, node: str) -> None:
        from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

        place = NodeAffinitySchedulingStrategy(node_id=node, soft=False)
        takes = {"num_cpus": 1, "num_gpus": 1 if self._resource == "GPU" else 0}
        left = next((one for one in self._idle if one[:2] == (node, self._resource)), None)
        if left is None:
            actor = self._kind.options(scheduling_strategy=place, max_restarts=0, **takes).remote()
        else:
            self._idle.remove(left)
            actor = left[2]
        self.workers.append(Worker(actor, node, actor.greet.remote(self._setup)))

    def meet(self, worker: Worker) -> None:
        """Let a worker that has greeted draw, or refuse its machine."""
        try:
            greeting: Greeting = pickle.loads(self._ray.get(worker.greeting))
        except Exception as error:  # its process died, or could not import what it needs
            self._dismiss(worker)
            self._false_starts[worker.node] += 1
            if self._false_starts[worker.node] >= _MOST_FALSE_STARTS:
                self._refuse(worker, f"workers do not start there: {in_brief(error)}")
            return
        worker.name = greeting.name
        reason = self._refusal(greeting)
        if reason is not None:
            self._dismiss(worker)
            self._refuse(worker, reason)
            return
        self._false_starts[worker.node] = 0
        worker.ready, worker.seconds_per_vote = True, greeting.seconds_per_vote

    def _refuse(self, worker: Worker, reason: str) -> None:
        if worker.node not in self.refused:
            self.refused[worker.node] = f"{worker.name}: {reason}"
            _log.warning("worker %s is refused: %s", worker.name, reason)

    def lose(self, worker: Worker, reason: str) -> list[Job]:
        """Give up a worker; return its jobs, of which the first was under way."""
        self._dismiss(worker)
        self.lost += 1
        self._next_look = 0.0
        _log.info("worker %s was lost: %s", worker.name, reason)
        return [job for _, job in worker.jobs]

    def _dismiss(self, worker: Worker) -> None:
        self.workers.remove(worker)
        with contextlib.suppress(Exception):  # it is gone already
            self._ray.kill(worker.actor, no_restart=True)

    def close(self) -> None:
        """End all workers but those that could begin another job at once."""
        for worker in list(self.workers):
            if worker.ready and not worker.jobs:
                self._idle.append((worker.node, self._resource, worker.actor))
            else:
                self._dismiss(worker)


def end_idle(idle: list[Idle]) -> None:
    """End the processes that jobs left: a connection that somebody else holds would keep them, and their cores."""
    while idle:
        with contextlib.suppress(Exception):  # it is gone already
            ray_library().kill(idle.pop()[2], no_restart=True)


def in_brief(error: BaseException) -> str:
    """Return the last telling line of an error, of which Ray's fill pages."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[-1] if lines else ''}"[:300]
