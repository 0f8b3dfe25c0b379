"""One training per folder at a time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from smoothcert.errors import CheckpointError
from smoothcert.locking import only_one_in


def only_training_in(folder: Path) -> AbstractContextManager[None]:
    """Hold a folder for this training, made if missing; refuse it while another one, or a worker of it, is at work."""
    return only_one_in(folder, ".training.lock", "training", CheckpointError, with_children=True)
