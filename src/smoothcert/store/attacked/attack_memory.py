"""An attack that is kept nowhere but in memory."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from smoothcert.store.attacked.attack_results import AttackedImage, AttackResults


class AttackMemory:
    """Takes what `AttackRecord` takes, and gives the same results back; nothing of it survives the process."""

    def __init__(self) -> None:
        self._settings: dict[str, Any] = {}
        self._images: dict[int, AttackedImage] = {}

    def hold(self) -> AbstractContextManager[None]:
        """Keep nobody out: nobody else is there."""
        return nullcontext()

    def settings(self, *, resume: bool) -> None:
        """Return None: there is nothing to continue."""

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Note the settings, as a file would give them back."""
        self._settings = json.loads(json.dumps(settings))

    def add(self, image: AttackedImage) -> None:
        """Note one image."""
        self._images[image.index] = image

    def results(self) -> AttackResults:
        """Return all that was noted, by index."""
        return AttackResults(self._settings, [self._images[index] for index in sorted(self._images)])
