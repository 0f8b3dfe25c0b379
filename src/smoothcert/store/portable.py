"""A run without its votes as one small text file, to be kept with a project, and read as a run again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smoothcert.atomic import write_atomically
from smoothcert.errors import DamagedRunError, FormatError, StoreError
from smoothcert.reading import parse_json, read_text
from smoothcert.store.database import RunDatabase, StoredRows
from smoothcert.store.rows import CertificateRow, CountsRow
from smoothcert.store.run import Run
from smoothcert.store.seal import seal

_FIX = "restore it from a copy, or certify again with the seed that it names"


def write_portable(folder: Path, file: Path) -> None:
    """Write the manifest, certificates and counts of a complete run, an image on each line.

    Not a copy to audit: votes are left out, and whoever doubts the counts draws them again with the run's seed.

    Args:
        folder: of the run.
        file: to write, replaced if it is there.
    """
    run = Run.open(folder)
    if not run.is_complete:
        raise StoreError(f"{folder} is not complete, so it is not written to {file}; continue it first")
    database = RunDatabase(folder, writable=False)
    try:
        lines = ",\n".join(json.dumps(one) for one in _images(database))
    finally:
        database.close()
    file.parent.mkdir(parents=True, exist_ok=True)
    manifest = json.dumps(run.manifest)
    write_atomically(file, f'{{"manifest": {manifest},\n"images": [\n{lines}\n]}}\n')


def read_portable(file: Path) -> Run:
    """Return the run that a file holds; one that no run could have written is refused.

    Args:
        file: what `write_portable` wrote.
    """
    content = parse_json(read_text(file, FormatError), str(file), FormatError)
    database = RunDatabase(None, writable=True)
    try:
        database.begin(content["manifest"])
        database.known_manifest = None  # to be checked, because it comes from a file
        database.add_stored([_stored(database, *image) for image in content["images"]])
        return Run.read(database, file.stem)
    except (TypeError, KeyError, ValueError, StoreError) as error:
        raise DamagedRunError(f"{file} holds no run ({error}); {_FIX}") from error
    finally:
        database.close()


def _images(database: RunDatabase) -> Iterator[tuple[list[Any], list[list[Any]]]]:
    """Yield the certificate and the counts of each image, by index."""
    columns = ", ".join(CertificateRow._fields)
    for row in database.rows(f"SELECT {columns} FROM certificates ORDER BY idx"):
        counts = database.rows(f"SELECT * FROM counts WHERE idx = {int(row[0])} ORDER BY position")
        yield list(row), [list(one) for one in counts]


def _stored(database: RunDatabase, certificate: list[Any], counts: list[list[Any]]) -> StoredRows:
    row, rows = CertificateRow(*certificate), [CountsRow(*one) for one in counts]
    return row, rows, [], seal(database.sealing_digest(), row, rows, [])
