"""The votes of a run that has been, to live through it once more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.sampling import CHUNK_VOTES, tallied, unpack
from smoothcert.store import RunDatabase


class RecordedVotes:
    """What each chunk of a finished run brought, by its vote log.

    Chunks beyond the deciding look are in no log; they bring votes for the first class, which nobody looks at.

    Args:
        run: folder of the run.
        classes: of the classifier.
    """

    def __init__(self, run: Path, classes: int) -> None:
        self.classes = classes
        database = RunDatabase(run, writable=False)
        rows = database.rows("SELECT idx, phase, packed FROM votes")
        self._votes = {(index, phase): unpack(packed, classes) for index, phase, packed in rows}
        database.close()

    def of(self, index: int, phase: str, number: int, votes: int) -> NDArray[np.int64]:
        """Return the votes of one chunk, by class."""
        first = number * CHUNK_VOTES
        logged = self._votes.get((index, phase))
        if logged is not None and first + votes <= len(logged):
            return tallied(logged[first : first + votes], self.classes)
        unseen = np.zeros(self.classes, dtype=np.int64)
        unseen[0] = votes
        return unseen
