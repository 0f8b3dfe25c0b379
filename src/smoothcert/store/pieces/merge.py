"""Several runs of one plan -> one run folder, as if it had been drawn in one piece."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from smoothcert.amounts import amount
from smoothcert.arguments import check_kind, check_path
from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.progress import Progress, progress, tell
from smoothcert.store.connection import FILE_NAME
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.origin import noted_places, noted_share, seen_from
from smoothcert.store.pieces.agreement import gap_text, joined_manifest
from smoothcert.store.pieces.sealed_rows import sealed_rows
from smoothcert.store.places import hold, who_writes
from smoothcert.store.rows import FailureRow, RowReader
from smoothcert.store.run import Run

_WORKPLACE = ".merging"  # in the folder of the result, until that is whole
_TOGETHER = 500  # images per transaction
Places = dict[str, Path]


@dataclass(frozen=True)
class _Piece:
    """What is known of a run that is to be merged before any row of it is copied."""

    folder: Path
    manifest: dict[str, Any]
    done: frozenset[int]
    failures: tuple[FailureRow, ...]
    share: str | None
    places: Places


def merge_runs(
    runs: Sequence[str | Path],
    out: str | Path,
    *,
    allow_gaps: bool = False,
    show_progress: bool | None = None,
) -> Run:
    """Merge runs of one plan, or a run and its extensions, into one; return it.

    Its certificates, votes and seals are those of a run in one piece: it exports and audits alike. Refused are
    overlaps, runs that differ in anything but their images, rows that were changed since they were written, and gaps.
    Killed at any moment, it leaves no run in `out`, and the same call starts anew. Not a proof that pieces are honest,
    which an audit of the result is.

    Args:
        runs: folders of the pieces.
        out: folder of the result, without a run in it.
        allow_gaps: write a run that lacks images, to be continued with resume.
        show_progress: None shows it on a terminal only.
    """
    check_kind("runs", runs, (list, tuple), "a list of run folders")
    folders = [check_path("each of runs", run) for run in runs]
    place = check_path("out", out)
    if not folders:
        raise InvalidArgumentError("runs must name at least one run folder to merge")
    with hold(place):
        if (place / FILE_NAME).exists():
            raise StoreError(f"{place} already holds a run; choose another folder for the merged one")
        pieces = _read_pieces(folders, place)
        manifest = joined_manifest({piece.folder: piece.manifest for piece in pieces})
        failures = _refuse_overlap(pieces)
        done = frozenset[int]().union(*(piece.done for piece in pieces))
        _tell_answered(pieces, done, show_progress)
        missing = [index for index in manifest["indices"] if index not in done and index not in failures]
        if missing and not allow_gaps:
            shares = [piece.share for piece in pieces if piece.share is not None]
            raise StoreError(
                f"{gap_text(missing, shares)}; finish or add them, or merge what there is with allow_gaps "
                "(--allow-gaps)"
            )
        with progress("merging", len(done), shown=show_progress) as show:
            _write(place, manifest, pieces, failures, show)
    return Run.open(place)


def _read_pieces(folders: Sequence[Path], out: Path) -> list[_Piece]:
    seen: dict[Path, Path] = {}
    pieces: list[_Piece] = []
    for folder in folders:
        real = folder.resolve()
        if real in seen or real == out.resolve():
            raise InvalidArgumentError(
                f"{folder} is given twice; name each run once, and another folder for the result"
            )
        seen[real] = folder
        piece = _read_piece(folder)
        if pieces and piece.manifest == pieces[0].manifest:  # one copy: it lists every image
            piece = _Piece(**{**vars(piece), "manifest": pieces[0].manifest})
        pieces.append(piece)
    return pieces


def _read_piece(folder: Path) -> _Piece:
    refuse_no_run(folder)
    holder = who_writes(folder)
    if holder is not None and holder.is_alive is not False:
        raise StoreError(
            f"{folder} is still being drawn by process {holder.pid} on {holder.host}; wait for it"
        )
    with closing(RunDatabase(folder, writable=False)) as database:
        manifest = database.checked_manifest()
        if manifest is None:
            raise StoreError(f"{folder} holds no run yet; start it again with resume")
        reader = RowReader(manifest)
        with database.checking():
            failed = tuple(
                reader.failure(row) for row in database.each("SELECT * FROM failures ORDER BY idx")
            )
        done = frozenset(index for (index,) in database.each("SELECT idx FROM certificates"))
        share = noted_share(database)
        return _Piece(
            folder, manifest, done, failed, None if share is None else str(share), noted_places(database)
        )


def _refuse_overlap(pieces: Sequence[_Piece]) -> dict[int, FailureRow]:
    """Refuse an image that two pieces have certified; return those that failed and that none has certified."""
    owner: dict[int, Path] = {}
    for piece in pieces:
        twice = sorted(index for index in piece.done if index in owner)
        if twice:
            raise StoreError(
                f"{owner[twice[0]]} and {piece.folder} overlap: both hold image {twice[0]}, and "
                f"{len(twice) - 1:,} more; merge each image once"
            )
        owner.update(dict.fromkeys(piece.done, piece.folder))
    failed = (row for piece in reversed(pieces) for row in piece.failures)
    return {row.idx: row for row in failed if row.idx not in owner}


def _tell_answered(pieces: Sequence[_Piece], done: frozenset[int], shown: bool | None) -> None:
    """Say which failures give way to a certificate of the same image.

    As with resume: votes depend on the plan alone, so a certificate is the one that the run that failed would have had,
    and asking again cannot make a better one.
    """
    for piece in pieces:
        answered = [row for row in piece.failures if row.idx in done]
        if answered:
            first = answered[0]
            tell(
                f"{amount(len(answered), 'image')} of {piece.folder} failed there and took a certificate from another "
                f"run (image {first.idx}: {first.reason})",
                shown=shown,
            )


def _write(
    out: Path,
    manifest: dict[str, Any],
    pieces: Sequence[_Piece],
    failures: dict[int, FailureRow],
    show: Progress,
) -> None:
    """Write the run beside its place, and move it there when it is whole."""
    workplace = out / _WORKPLACE
    shutil.rmtree(workplace, ignore_errors=True)  # of a merge that was killed
    workplace.mkdir()
    try:
        database = RunDatabase(workplace, writable=True)
        try:
            kept = {name: path for name, path in pieces[0].places.items() if name != "plan"}
            database.begin(manifest, seen_from(out, kept))
            _copy(database, pieces, show)
            database.add_stored((), failures.values())
        except BaseException:
            database.close()
            raise
        database.close(finished=True)
        _sync(workplace / FILE_NAME)
        (workplace / FILE_NAME).replace(out / FILE_NAME)
        _sync(out)
    finally:
        shutil.rmtree(workplace, ignore_errors=True)


def _copy(database: RunDatabase, pieces: Sequence[_Piece], show: Progress) -> None:
    """Copy images one after the other, each held against its seal and sealed for the merged run."""
    copied = 0
    for piece in pieces:
        with closing(RunDatabase(piece.folder, writable=False)) as source:
            images = sealed_rows(source, piece.manifest, database.sealing_digest())
            while together := list(islice(images, _TOGETHER)):
                database.add_stored(together)
                copied += len(together)
                show(copied, f"of {piece.folder.name}")


def _sync(path: Path) -> None:
    """Make a file, or the names in a folder, last through a power cut."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
