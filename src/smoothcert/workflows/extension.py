"""More images for a run that is there: the same manifest otherwise, the same secret seed, and none of its images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_path
from smoothcert.data import Dataset, check_indices
from smoothcert.errors import InvalidArgumentError, ManifestMismatchError, StoreError
from smoothcert.store import RunDatabase, field_differences, refuse_no_run


@dataclass(frozen=True)
class Extension:
    """A run that is to be extended. Not changed by that: the further images are a run of their own, until a merge.

    Args:
        folder: of the run.
        manifest: of it, checked.
    """

    folder: Path
    manifest: Mapping[str, Any]

    @classmethod
    def of(cls, run: str | Path) -> Extension:
        """Read the manifest of a run folder."""
        folder = check_path("extends", run)
        refuse_no_run(folder)
        with closing(RunDatabase(folder, writable=False)) as database:
            manifest = database.checked_manifest()
        if manifest is None:
            raise StoreError(f"{folder} holds no run yet; start it again with resume")
        return cls(folder, manifest)

    def further(self, dataset: Dataset, indices: Sequence[int] | None) -> Sequence[int]:
        """Return those of the chosen images that the run does not list; refuse where there is none."""
        there = frozenset(self.manifest["indices"])
        chosen = [index for index in check_indices(dataset, indices) if index not in there]
        if not chosen:
            raise InvalidArgumentError(
                f"{self.folder} lists all of the chosen images already; choose more, or continue it with resume"
            )
        return chosen

    def check(self, manifest: Mapping[str, Any]) -> None:
        """Refuse a manifest that differs from the run's in anything but images, naming every field."""
        differing = field_differences(self.manifest, manifest)
        if differing:
            raise ManifestMismatchError(
                f"cannot extend {self.folder}: {'; '.join(differing)}; use the same settings"
            )
