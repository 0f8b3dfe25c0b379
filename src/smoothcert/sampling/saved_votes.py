"""The votes of an image under way as plain values, and back: nothing but votes is believed of a stored state."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.sampling.chunk import ChunkVotes
from smoothcert.sampling.phases import CHUNK_VOTES, Phase
from smoothcert.sampling.vote_log import as_text, inflate, no_class, pack, tallied, unpack

_FIELDS = {"votes", "evaluations", "seconds"}
_MOST_EVALUATIONS = CHUNK_VOTES * 2**20  # forward passes of one chunk

_MOST_SECONDS = 1e9


@dataclass(frozen=True)
class SavedVotes:
    """What a stopped journey had counted.

    Not its looks or decisions: they follow from the votes once more, so a state cannot hold others.

    Args:
        votes: classes of the votes by answer and phase, in their order, as `ballot_type`.
        evaluations: forward passes by (chunk, answer), over all phases.
        seconds: of one worker, all in all, then up to the decision of each answer; None where there is none yet.
    """

    votes: list[dict[str, NDArray[Any]]]
    evaluations: NDArray[np.int64]
    seconds: list[float | None]

    def chunks(self, num_classes: int) -> Iterator[ChunkVotes]:
        """Yield the votes chunk by chunk, as they were once drawn."""
        number = 0
        for phase in self.votes[0]:
            cast = np.stack([ballots[phase] for ballots in self.votes])
            for start in range(0, cast.shape[1], CHUNK_VOTES):
                classes = cast[:, start : start + CHUNK_VOTES]
                votes = np.stack([tallied(row, num_classes) for row in classes])
                yield ChunkVotes(votes, self.evaluations[number], 0.0, classes)
                number += 1


def save_votes(
    packed: Sequence[Mapping[str, bytes]], evaluations: bytes, seconds: Sequence[float | None]
) -> dict[str, Any]:
    """Return plain values that `read_votes` reads back; arguments as in `SavedVotes`, packed or as bytes."""
    return {
        "votes": [as_text(ballots) for ballots in packed],
        "evaluations": base64.b85encode(pack(evaluations)).decode(),
        "seconds": list(seconds),
    }


def read_votes(saved: Any, phases: Sequence[Phase], answers: int, num_classes: int) -> SavedVotes:
    """Read what `save_votes` returned; raise ValueError where no journey through these phases can have saved it.

    Args:
        saved: the plain values, from a file that may hold anything.
        phases: streams and looks of the journey.
        answers: how many classifiers it is about.
        num_classes: classes per answer.
    """
    if not isinstance(saved, dict) or set(saved) != _FIELDS:
        raise ValueError(f"a state has the fields {', '.join(sorted(_FIELDS))}")
    texts, seconds = saved["votes"], saved["seconds"]
    if not isinstance(texts, list) or len(texts) != answers or not all(isinstance(t, dict) for t in texts):
        raise ValueError(f"there are no votes for {answers} answers")
    begun = phases[: len(texts[0])]
    if not begun or any(list(text) != [phase.name for phase in begun] for text in texts):
        raise ValueError("there are votes of phases that the procedure does not have, or not in this order")
    votes = [{phase.name: _cast(text[phase.name], phase, num_classes) for phase in begun} for text in texts]
    lengths = [[len(ballots[phase.name]) for phase in begun] for ballots in votes]
    if any(length != lengths[0] for length in lengths):
        raise ValueError("the answers have different numbers of votes")
    if any(length != phase.votes for length, phase in zip(lengths[0][:-1], begun, strict=False)):
        raise ValueError("a phase was left before its end")
    if lengths[0][-1] % CHUNK_VOTES and lengths[0][-1] != begun[-1].votes:
        raise ValueError("the votes end inside a chunk")
    chunks = sum(-(-length // CHUNK_VOTES) for length in lengths[0])
    return SavedVotes(votes, _evaluations(saved["evaluations"], chunks, answers), _seconds(seconds, answers))


def _cast(text: Any, phase: Phase, num_classes: int) -> NDArray[Any]:
    cast = unpack(_bytes(text), num_classes, phase.votes)
    if ((cast >= num_classes) & (cast != no_class(num_classes))).any():
        raise ValueError(f"votes of {phase.name!r} are for classes that do not exist")
    return cast


def _evaluations(text: Any, chunks: int, answers: int) -> NDArray[np.int64]:
    found = np.frombuffer(inflate(_bytes(text), 8 * chunks * answers), dtype="<i8").astype(np.int64)
    if found.size != chunks * answers or ((found < 0) | (found > _MOST_EVALUATIONS)).any():
        raise ValueError("the evaluations are not those of the votes")
    return found.reshape(chunks, answers)


def _seconds(values: Any, answers: int) -> list[float | None]:
    if not isinstance(values, list) or len(values) != 1 + answers or values[0] is None:
        raise ValueError("the seconds are not one number, and one for each answer")
    for value in values:
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if value is not None and (not number or not 0 <= value <= _MOST_SECONDS):
            raise ValueError(f"seconds must be numbers from 0 to {_MOST_SECONDS:g}, got {value!r}")
    return list(values)


def _bytes(text: Any) -> bytes:
    if not isinstance(text, str):
        raise ValueError("votes are stored as text")
    return base64.b85decode(text)
