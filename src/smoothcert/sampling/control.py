"""A control question: what a model with code of the user's own is asked before the first vote and after the last."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import torch
from numpy.typing import NDArray

from smoothcert.engines import same_answers
from smoothcert.errors import UnsoundModelError
from smoothcert.networks import MIN_ROWS
from smoothcert.sampling.chunk import Chunk
from smoothcert.sampling.phases import CHUNK_VOTES
from smoothcert.sampling.process_sampler import ProcessSampler
from smoothcert.sampling.sampler import Sampler

_PATIENCE = 20.0  # times what a call takes in this process
_LEAST_PATIENCE = 10.0  # seconds


@dataclass(frozen=True)
class Control:
    """The question and the answers that it got, which every worker must give at the start and at the end.

    Not a proof that a model is fixed: it may change its mind about other images, or change it back.

    Args:
        chunks: noisy copies from a stream that no vote has, asked about in one batch.
        answers: logits, (rows, answers, classes).
        seconds: how long the answer took.
    """

    chunks: tuple[Chunk, ...]
    answers: NDArray[Any]
    seconds: float

    @classmethod
    def ask(cls, sampler: Sampler, image: torch.Tensor, rows: int = MIN_ROWS) -> Control:
        """Ask about so many copies of an image for the first time, in this process."""
        chunks = tuple(
            Chunk(image, 0, "control", number, min(CHUNK_VOTES, rows - first))
            for number, first in enumerate(range(0, rows, CHUNK_VOTES))
        )
        start = time.monotonic()
        answers = sampler.answers(chunks).copy()
        return cls(chunks, answers, time.monotonic() - start)

    @property
    def seconds_per_vote(self) -> float:
        """What a vote takes, at least roughly."""
        return self.seconds / len(self.answers)

    def holds_in(self, child: ProcessSampler) -> bool:
        """Return whether a forked child gives the same answers, and gives them soon.

        A runtime with threads of its own may wait for ever in a child, which has none of them.
        """
        patience = _LEAST_PATIENCE + _PATIENCE * self.seconds
        try:
            child.seconds_per_vote = self.seconds_per_vote
            return self.holds(child.answers(self.chunks, patience))
        except Exception:  # whatever it raises there, it did not raise here
            return False

    def refuse_change(self, sampler: Sampler | ProcessSampler) -> None:
        """Raise `UnsoundModelError` if a worker that drew votes does not give the same answers any more."""
        self.refuse_other(sampler.answers(self.chunks))

    def refuse_other(self, answers: NDArray[Any]) -> None:
        """Raise `UnsoundModelError` for other answers than those that were given before the first vote."""
        if not self.holds(answers):
            raise UnsoundModelError(
                "the model answers the same noisy images otherwise than before the first vote, so these votes prove "
                "nothing about it; let it keep nothing from call to call that changes its answers, and read no clock"
            )

    def holds(self, answers: NDArray[Any]) -> bool:
        """Return whether answers are the same up to rounding."""
        return same_answers([torch.from_numpy(answers).double()], [torch.from_numpy(self.answers).double()])
