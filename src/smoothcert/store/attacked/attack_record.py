"""The file of an attack: settings first, then one line per image, so that a stopped attack continues."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from smoothcert.atomic import write_atomically
from smoothcert.errors import FormatError, ManifestMismatchError, StoreError
from smoothcert.locking import only_one_in
from smoothcert.reading import parse_json, read_text
from smoothcert.store.attacked.attack_results import AttackedImage, AttackResults
from smoothcert.store.attacked.attack_settings import check_settings
from smoothcert.store.manifest import differences

FILE_NAME = "attack.jsonl"
_LOCK_FILE = ".attack.lock"
_MOST_BYTES = 2**25  # some 100,000 images


class AttackRecord:
    """Reads and appends the lines of one attack; a line that a crash cut short is dropped.

    Args:
        folder: where the file is, or will be.
    """

    def __init__(self, folder: Path) -> None:
        self.file = folder / FILE_NAME

    def hold(self) -> AbstractContextManager[None]:
        """Keep other processes from attacking into the folder, which is made if it is missing."""
        return only_one_in(self.file.parent, _LOCK_FILE, "attack", StoreError)

    def settings(self, *, resume: bool) -> dict[str, Any] | None:
        """Return the settings of an attack to continue; refuse one that is there without `resume`."""
        if not self.file.exists():
            return None
        if not resume:
            raise StoreError(
                f"{self.file.parent} already holds an attack; continue it with resume (--resume) or choose another "
                "folder"
            )
        return dict(self._read()[0])

    def begin(self, settings: Mapping[str, Any]) -> None:
        """Write the settings, or hold them against those of the attack that is there."""
        if not self.file.exists():
            write_atomically(self.file, json.dumps({"settings": settings}) + "\n")
            return
        stored, images = self._read()
        differing = differences(stored, settings)
        if differing:
            raise ManifestMismatchError(
                f"cannot resume {self.file.parent}: {'; '.join(differing)}; use the same settings or another folder"
            )
        whole = [
            json.dumps({"settings": stored}),
            *(json.dumps(image.to_json()) for image in images.values()),
        ]
        write_atomically(self.file, "\n".join(whole) + "\n")

    def add(self, image: AttackedImage) -> None:
        """Append one image, on disk before this returns."""
        try:
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps(image.to_json()) + "\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreError(
                f"cannot write {self.file}: {error.strerror or error}; continue with resume"
            ) from error

    def results(self) -> AttackResults:
        """Return all that is stored, by index."""
        settings, images = self._read()
        return AttackResults(settings, [images[index] for index in sorted(images)])

    def _read(self) -> tuple[dict[str, Any], dict[int, AttackedImage]]:
        text = read_text(self.file, StoreError, most=_MOST_BYTES)
        lines = text.split("\n")[:-1]  # what follows the last line break is empty, or cut short
        try:
            settings = check_settings(self._parsed(lines[0])) if lines else None
            if settings is None:
                raise ValueError("it is empty")
            images = [AttackedImage.from_json(self._parsed(line)) for line in lines[1:]]
        except ValueError as error:
            raise FormatError(
                f"{self.file} is no record of an attack ({error}); start anew in another folder"
            ) from error
        return settings, {image.index: image for image in images}

    def _parsed(self, line: str) -> Any:
        return parse_json(line, "a line", FormatError)


def read_attack(folder: str | Path) -> AttackResults:
    """Return what an attack in a folder found so far."""
    return AttackRecord(Path(folder)).results()
