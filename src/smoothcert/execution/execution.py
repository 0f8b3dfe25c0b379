"""Where votes are drawn: one interface for threads here and for a cluster."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling import Pool, VoteSource
from smoothcert.visible import brief


class Execution(ABC):
    """A place where votes are drawn. No vote depends on it, so it is no part of a run's identity.

    Inside `with` it is held ready for several jobs; a job that finds it not held does so itself.
    """

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    @abstractmethod
    def pool(self, source: VoteSource, batch_size: int) -> Pool:
        """Return workers for one job, not entered yet.

        Args:
            source: what decides the votes.
            batch_size: most rows per forward pass.
        """


def chosen_execution(execution: Execution | None, workers: int | None) -> Execution:
    """Return where to draw: what the user chose, or so many threads here.

    Args:
        execution: None for threads here.
        workers: how many; None for one per core, and beside an execution, which says it itself.
    """
    from smoothcert.execution.local_execution import LocalExecution

    if execution is None:
        return LocalExecution(workers)
    if not isinstance(execution, Execution):
        raise InvalidArgumentError(
            f"execution must be RayExecution(..), LocalExecution(..) or None, got {brief(execution)}"
        )
    if workers is not None:
        raise InvalidArgumentError(
            f"workers is said by the execution; write {type(execution).__name__}(workers={brief(workers)}) and leave "
            "workers out"
        )
    return execution
