"""Votes drawn by the workers of a Ray cluster."""

from __future__ import annotations

from contextlib import ExitStack
from types import TracebackType
from typing import Any, Self

from typing_extensions import override

from smoothcert.arguments import check_number, is_whole
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution.execution import Execution
from smoothcert.sampling import Pool, VoteSource, check_workers
from smoothcert.visible import brief

_LONGEST_PORT = 5  # digits


def is_address(address: Any) -> bool:
    """Return whether something is written as the address of a cluster: host:port, or auto."""
    if not isinstance(address, str) or "/" in address:  # also that of a client, ray://host:port
        return False
    host, _, port = address.rpartition(":")
    return address == "auto" or (bool(host) and port.isdecimal() and len(port) <= _LONGEST_PORT)


class RayExecution(Execution):
    """Workers of a Ray cluster, one per core, or per GPU for a model that is on one; the driver alone writes files.

    Votes, certificates and exports are those of threads here, timings apart. Workers that die, hang or run out of
    memory are replaced, and their votes drawn by others; a machine that has other releases, or votes otherwise on a
    probe, is refused by name. Not a way to start machines: Ray does that. Inside `with`, several jobs share one
    connection and its processes, and a local cluster is started once.

    Args:
        address: "host:port" of the cluster's head, or "auto" for the one that this machine belongs to; by default a
            cluster of this machine alone, which ends with the job.
        workers: how many at most; one per core, or per GPU, by default.
        patience: seconds that a worker may be silent beyond 20 times what its votes should take.
    """

    def __init__(
        self, address: str | None = None, *, workers: int | None = None, patience: float = 60.0
    ) -> None:
        check_number("patience", patience, above=0, what="seconds, a number above 0")
        if workers is not None and not is_whole(workers, 1):
            raise InvalidArgumentError(f"workers must be a positive integer, or None, got {brief(workers)}")
        if address is not None and not is_address(address):
            raise InvalidArgumentError(
                f"address must be host:port of the cluster's head, or auto, got {brief(address)}; a client from "
                "outside (ray://) cannot drive workers: start the run on a machine of the cluster"
            )
        self.address, self.workers, self.patience = address, workers, float(patience)
        self._held, self._depth = ExitStack(), 0
        self._idle: list[Any] = []  # processes of workers between two jobs

    def __repr__(self) -> str:
        return f"RayExecution({self.address!r}, workers={self.workers}, patience={self.patience})"

    @override
    def __enter__(self) -> Self:
        from smoothcert.execution.cluster.connection import connected

        if self._depth == 0:
            with ExitStack() as stack:
                stack.enter_context(connected(self.address, check_workers(self.workers)))
                self._held = stack.pop_all()
        self._depth += 1
        return self

    @override
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        from smoothcert.execution.cluster.crew import end_idle

        self._depth -= 1
        if self._depth == 0:
            with self._held:
                end_idle(self._idle)

    @override
    def pool(self, source: VoteSource, batch_size: int) -> Pool:
        from smoothcert.execution.cluster.ray_pool import RayPool

        return RayPool(
            source,
            batch_size,
            connection=self,
            idle=self._idle,
            workers=self.workers,
            patience=self.patience,
        )
