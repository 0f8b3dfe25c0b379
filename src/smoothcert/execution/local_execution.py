"""Votes drawn in this process."""

from __future__ import annotations

from dataclasses import dataclass

from typing_extensions import override

from smoothcert.execution.execution import Execution
from smoothcert.sampling import Pool, VoteSource, check_workers


@dataclass(frozen=True)
class LocalExecution(Execution):
    """Threads here, or processes where threads must not share a model; what holds unless another is chosen.

    Args:
        workers: how many; one per core by default.
    """

    workers: int | None = None

    def __post_init__(self) -> None:
        check_workers(self.workers)

    @override
    def pool(self, source: VoteSource, batch_size: int) -> Pool:
        return source.workers_here(check_workers(self.workers), batch_size)
