"""The votes of an image under way as plain values, and back: nothing but votes is believed of a stored state."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.sampling.phases import CHUNK_VOTES, Phase
from smoothcert.sampling.vote_log import as_text, inflate, no_class, pack, tallied, unpack
from smoothcert.visible import brief

_FIELDS = {"votes", "evaluations", "seconds"}
_MOST_EVALUATIONS = CHUNK_VOTES * 2**20  # forward passes of one chunk
_MOST_SECONDS = 1e9


@dataclass(frozen=True)
class SavedVotes:
    """What a stopped sampling of an image had counted.

    Not its looks or decisions: they follow from the votes once more, so a state cannot hold others.

    Args:
        votes: classes of the votes by phase, in their order, as `vote_type`.
        evaluations: forward passes by chunk, over all phases.
        seconds: of one worker.
    """

    votes: dict[str, NDArray[Any]]
    evaluations: NDArray[np.int64]
    seconds: float

    def chunks(self, num_classes: int) -> Iterator[tuple[NDArray[np.int64], int, NDArray[Any]]]:
        """Yield chunk by chunk votes by class, their forward passes, and the votes one by one, as once drawn."""
        passes = iter(self.evaluations.tolist())
        for cast in self.votes.values():
            for start in range(0, len(cast), CHUNK_VOTES):
                classes = cast[start : start + CHUNK_VOTES]
                yield tallied(classes, num_classes), next(passes), classes


def save_votes(packed: Mapping[str, bytes], evaluations: bytes, seconds: float) -> dict[str, Any]:
    """Return plain values that `read_votes` reads back; arguments as in `SavedVotes`, packed or as bytes."""
    return {
        "votes": as_text(packed),
        "evaluations": base64.b85encode(pack(evaluations)).decode(),
        "seconds": seconds,
    }


def read_votes(saved: Any, phases: Sequence[Phase], num_classes: int) -> SavedVotes:
    """Read what `save_votes` returned; raise ValueError where no sampling of these phases can have saved it.

    Args:
        saved: the plain values, from a file that may hold anything.
        phases: streams and looks of the sampling.
        num_classes: classes of the classifier.
    """
    if not isinstance(saved, dict) or set(saved) != _FIELDS:
        raise ValueError(f"a state has the fields {', '.join(sorted(_FIELDS))}")
    texts = saved["votes"]
    if not isinstance(texts, dict):
        raise ValueError("there are no votes by phase")
    begun = phases[: len(texts)]
    if not begun or list(texts) != [phase.name for phase in begun]:
        raise ValueError("there are votes of phases that the procedure does not have, or not in this order")
    votes = {phase.name: _cast(texts[phase.name], phase, num_classes) for phase in begun}
    lengths = [len(cast) for cast in votes.values()]
    if any(length != phase.votes for length, phase in zip(lengths[:-1], begun, strict=False)):
        raise ValueError("a phase was left before its end")
    if lengths[-1] % CHUNK_VOTES and lengths[-1] != begun[-1].votes:
        raise ValueError("the votes end inside a chunk")
    chunks = sum(-(-length // CHUNK_VOTES) for length in lengths)
    return SavedVotes(votes, _evaluations(saved["evaluations"], chunks), _seconds(saved["seconds"]))


def _cast(text: Any, phase: Phase, num_classes: int) -> NDArray[Any]:
    cast = unpack(_bytes(text), num_classes, phase.votes)
    if ((cast >= num_classes) & (cast != no_class(num_classes))).any():
        raise ValueError(f"votes of {phase.name!r} are for classes that do not exist")
    return cast


def _evaluations(text: Any, chunks: int) -> NDArray[np.int64]:
    passes = np.frombuffer(inflate(_bytes(text), 8 * chunks), dtype="<i8").astype(np.int64)
    if passes.size != chunks or ((passes < 0) | (passes > _MOST_EVALUATIONS)).any():
        raise ValueError("the evaluations are not those of the votes")
    return passes


def _seconds(value: Any) -> float:
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 <= value <= _MOST_SECONDS:
        raise ValueError(f"seconds must be a number from 0 to {_MOST_SECONDS:g}, got {brief(value)}")
    return float(value)


def _bytes(text: Any) -> bytes:
    if not isinstance(text, str):
        raise ValueError("votes are stored as text")
    return base64.b85decode(text)
