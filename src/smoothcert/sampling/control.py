"""A control question: what a model with code of the user's own is asked before the first vote and after the last."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray

from smoothcert.engines import MIN_ROWS
from smoothcert.errors import UnsoundModelError
from smoothcert.sampling.chunks import Chunk
from smoothcert.sampling.probe import same_answers
from smoothcert.sampling.process_sampler import ProcessSampler
from smoothcert.sampling.sampler import Sampler

_PATIENCE = 20.0  # times what a call takes in this process
_LEAST_PATIENCE = 10.0  # seconds


@dataclass(frozen=True)
class Control:
    """The question and the answers that it got, which every worker must give at the start and at the end.

    Not a proof that a model is fixed: it may change its mind about other images, or change it back.

    Args:
        chunk: noisy copies from a stream that no vote has.
        answers: logits, (rows, answers, classes).
        seconds: how long the answer took.
    """

    chunk: Chunk
    answers: NDArray[Any]
    seconds: float

    @classmethod
    def ask(cls, sampler: Sampler, image: torch.Tensor) -> Control:
        """Ask about an image for the first time, in this process."""
        chunk = Chunk(image, 0, "control", 0, MIN_ROWS)
        start = time.monotonic()
        answers = sampler.answers(chunk).copy()
        return cls(chunk, answers, time.monotonic() - start)

    @property
    def seconds_per_vote(self) -> float:
        """What a vote takes, at least roughly."""
        return self.seconds / self.chunk.votes

    def holds_in(self, child: ProcessSampler) -> bool:
        """Return whether a forked child gives the same answers, and gives them soon.

        A runtime with threads of its own may wait for ever in a child, which has none of them.
        """
        patience = _LEAST_PATIENCE + _PATIENCE * self.seconds
        try:
            return self._same(child.answers(self.chunk, patience))
        except Exception:  # whatever it raises there, it did not raise here
            return False

    def refuse_change(self, sampler: Sampler | ProcessSampler) -> None:
        """Raise `UnsoundModelError` if a worker that drew votes does not give the same answers any more."""
        if not self._same(sampler.answers(self.chunk)):
            raise UnsoundModelError(
                "the model answers the same noisy images otherwise than before the first vote, so these votes prove "
                "nothing about it; let it keep nothing from call to call that changes its answers, and read no clock"
            )

    def _same(self, found: NDArray[Any]) -> bool:
        return same_answers(torch.from_numpy(found), torch.from_numpy(self.answers))
