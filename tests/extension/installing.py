"""A package with one file, installed for one process by an entry point."""

import atexit
import functools
import json
import os
import tempfile
from pathlib import Path

from extension.warm_python import WarmPython

SOURCE = Path(__file__).parents[2] / "src"
PACKAGE, VERSION = "outside", "1.2"
MOST_LINES = 120

_DRIVER = """
import contextlib, io, json, sys
from unittest import mock
from smoothcert.cli.app import main
from smoothcert.store import RunDatabase

add = RunDatabase.add

def add_some(database, certificate, label):
    if len(database.rows("SELECT idx FROM certificates")) == 2:
        raise KeyboardInterrupt
    add(database, certificate, label)

for arguments in json.loads(sys.argv[1]):
    stopped = arguments[0] == "stopped"
    out, err, sys.argv = io.StringIO(), io.StringIO(), ["smoothcert", *arguments[stopped:]]
    hold = mock.patch.object(RunDatabase, "add", add_some) if stopped else contextlib.nullcontext()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), hold:
        try:
            main()
        except SystemExit as end:
            code = end.code or 0
    print(json.dumps([code, out.getvalue(), err.getvalue()]))
"""


def install(site, group, file, code):
    """Put a file and the entry point that offers it into a folder of packages."""
    assert code.count("\n") <= MOST_LINES
    stem = Path(file).stem
    about = site / f"{PACKAGE}-{VERSION}.dist-info"
    about.mkdir(parents=True)
    (site / file).write_text(code)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {PACKAGE}\nVersion: {VERSION}\n")
    (about / "entry_points.txt").write_text(f"[{group}]\n{stem.replace('_', '-')} = {stem}\n")


def python(site, code, *arguments, columns=80):
    """Run code in a process that has the package; return what it prints."""
    settings = {
        "PYTHONPATH": os.pathsep.join([str(site), str(SOURCE)]),
        "COLUMNS": str(columns),
        "OMP_NUM_THREADS": "1",
    }
    code, out, err = warm_python().run(code, arguments, settings)
    assert code == 0, err
    return out


@functools.cache
def warm_python():
    """One for all tests of this process."""
    folder = tempfile.TemporaryDirectory()
    warm = WarmPython(Path(folder.name))
    atexit.register(folder.cleanup)
    atexit.register(warm.close)  # before the folder goes
    return warm


def commands(site, *lines, columns=80):
    """Run commands one after the other in a process that has the package; return code, output and errors of each.

    A line that begins with "stopped" is a certify that is interrupted when two images are stored.
    """
    texts = json.dumps([[str(part) for part in line] for line in lines])
    printed = python(site, _DRIVER, texts, columns=columns)
    return [json.loads(line) for line in printed.splitlines()]
