"""A run without its votes as one small text file, to be kept with a project, and read as a run again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from smoothcert.atomic import write_atomically
from smoothcert.errors import DamagedRunError, FormatError, StoreError
from smoothcert.reading import MOST_BYTES, parse_json, read_text
from smoothcert.store.database import RunDatabase
from smoothcert.store.pieces.sealed_rows import sealed_rows
from smoothcert.store.rows import CertificateRow, CountsRow
from smoothcert.store.run import Run
from smoothcert.store.seal import seal


class PortableRun(NamedTuple):
    """What such a file holds: the run, and the rows about each of its images, by index."""

    run: Run
    images: list[tuple[CertificateRow, list[CountsRow]]]


def write_portable(folder: Path, file: Path) -> None:
    """Write the manifest, certificates and counts of a complete run, an image on each line.

    Not a copy to audit: votes are left out, and whoever doubts the counts draws them again with the run's seed. A run
    that was changed after it was written is refused.

    Args:
        folder: of the run.
        file: to write, replaced if it is there.
    """
    run = Run.open(folder)
    if not run.is_complete:
        raise StoreError(f"{folder} is not complete, so it is not written to {file}; continue it first")
    database = RunDatabase(folder, writable=False)
    try:
        rows = sealed_rows(database, run.manifest, database.sealing_digest())
        lines = ",\n".join(json.dumps((one.certificate, one.counts)) for one in rows)
    finally:
        database.close()
    text = f'{{"manifest": {json.dumps(run.manifest)},\n"images": [\n{lines}\n]}}\n'
    if len(text) > MOST_BYTES:
        raise StoreError(f"{folder} is too large for a text of {MOST_BYTES:,} bytes; keep the folder itself")
    write_atomically(file, text)


def read_portable(file: Path) -> PortableRun:
    """Return the run that a file holds; one that no run could have written, or that lacks images, is refused.

    Not a proof of what it says: a text can be edited, and only drawing votes again tells whether counts are true.

    Args:
        file: what `write_portable` wrote.
    """
    content = parse_json(read_text(file, FormatError), str(file), FormatError)
    database = RunDatabase(None, writable=True)
    try:
        database.begin(dict(content["manifest"]))
        database.known_manifest = None  # to be checked, because it comes from a file
        images = [_rows(*image) for image in content["images"]]
        digest = database.sealing_digest()
        database.add_stored([(row, counts, [], seal(digest, row, counts, [])) for row, counts in images])
        run = Run.read(database, file.stem)
        if not run.is_complete:
            raise ValueError(f"{run.missing} of its images are missing")
        return PortableRun(run, images)
    except (TypeError, AttributeError, LookupError, ValueError, OverflowError, StoreError) as error:
        raise DamagedRunError(
            f"{file} holds no run ({error}); remove it and certify again, with the seed that it was made with"
        ) from error
    finally:
        database.close()


def _rows(certificate: list[Any], counts: list[list[Any]]) -> tuple[CertificateRow, list[CountsRow]]:
    return CertificateRow(*certificate), [CountsRow(*one) for one in counts]
