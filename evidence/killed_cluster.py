"""Workers and drivers of one certification on Ray, killed again and again: what is left, and what comes out."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from evidence.record import record

import smoothcert as sc
from smoothcert.execution.cluster.local_cluster import sessions_folder
from smoothcert.store import export_run

SEED, IMAGES, VOTES, KILLS, DRIVERS = 9, 200, 4_000, 20, 5
WORK = Path(".evidence") / "killed_cluster"
MARK = "SMOOTHCERT_EVIDENCE"
_STRAY_SECONDS = 20.0  # after which nothing of a killed driver may be left
_WORKER = b"ray::VoteWorker"


def make() -> None:
    """Certify 200 digits here, then on a cluster that loses workers and drivers by lot, and compare the exports."""
    shutil.rmtree(WORK, ignore_errors=True)
    model = WORK / "model"
    sc.train({"epochs": 5, "seed": SEED}, model)
    here = _run_here(model)
    lot = random.Random(SEED)
    fates = ["driver"] * DRIVERS + ["worker"] * (KILLS - DRIVERS)
    lot.shuffle(fates)
    out, strays, told = WORK / "killed", 0, []
    driver = _driver(model, out)
    for number, fate in enumerate(fates):
        # Each at some place of its share of the images, and only once votes are being drawn again.
        place = (number + lot.random()) * IMAGES / (KILLS + 1)
        _wait(lambda: _finished(out) >= place and bool(_workers(driver.pid)))  # noqa: B023
        if fate == "worker":
            with contextlib.suppress(ProcessLookupError):
                os.kill(lot.choice(_workers(driver.pid)), signal.SIGKILL)
        else:
            driver.kill()
            driver.wait()
            strays += _strays(driver.pid)
            driver = _driver(model, out)
        told.append({"killed": fate, "images_done": _finished(out)})
        print(told[-1], flush=True)
    if driver.wait() != 0:
        sys.exit("the last driver failed")
    strays += _strays(driver.pid)
    record(
        "killed_cluster",
        about=f"One certification of {IMAGES} digits ({VOTES:,} votes each) on a Ray cluster of two workers, of which "
        f"{KILLS} processes were killed by SIGKILL at random places: {KILLS - DRIVERS} workers and {DRIVERS} drivers, "
        "each followed by --resume. The export is compared, timings apart, with that of an undisturbed run on threads; "
        f"strays are processes of a driver that live {_STRAY_SECONDS:.0f} s after it, and folders that it left.",
        seed=SEED,
        interval="none: the exports are equal or not",
        figures={
            "kills": told,
            "images": len(sc.Run.open(out)),
            "export_equals_undisturbed_run": _export(out) == _export(here),
            "strays": strays,
        },
    )


def _run_here(model: Path) -> Path:
    out = WORK / "undisturbed"
    sc.certify(
        sc.load_classifier(model),
        sc.load_dataset("digits"),
        procedure=sc.FixedSample(n=VOTES),
        seed=SEED,
        engine="torch",
        indices=range(IMAGES),
        out=out,
    )
    return out


def _driver(model: Path, out: Path) -> subprocess.Popen[bytes]:
    """Start or continue the run on a cluster; every process below it inherits the mark."""
    options = (
        f"--first {IMAGES} --n {VOTES} --seed {SEED} --engine torch --out {out} --resume --ray --workers 2"
    )
    command = [sys.executable, "-m", "smoothcert", "certify", str(model), *options.split()]
    # The number of a process is known when it has started, so a shell puts it into its own settings first.
    shell = ["sh", "-c", f'export {MARK}=$$; exec "$@"', "sh", *command]
    return subprocess.Popen(shell, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


def _marked(driver: int) -> list[Path]:
    """Return the processes that a driver started, directly or not, and itself."""
    mark, found = f"{MARK}={driver}\0".encode(), []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if mark in (entry / "environ").read_bytes():
                found.append(entry)
    return found


def _workers(driver: int) -> list[int]:
    found = []
    for entry in _marked(driver):
        with contextlib.suppress(OSError):
            if (entry / "cmdline").read_bytes().startswith(_WORKER):
                found.append(int(entry.name))
    return found


def _strays(driver: int) -> int:
    """Return what is left of a driver after a while."""
    with contextlib.suppress(TimeoutError):
        _wait(lambda: not _marked(driver), _STRAY_SECONDS)
    return len(_marked(driver)) + len(list(sessions_folder().glob(f"{driver}-*")))


def _wait(done: Callable[[], bool], seconds: float = 600.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        if time.monotonic() > end:
            raise TimeoutError
        time.sleep(0.02)


def _finished(out: Path) -> int:
    place = f"{(out / 'run.sqlite').resolve().as_uri()}?mode=ro"
    with contextlib.suppress(sqlite3.OperationalError), closing(sqlite3.connect(place, uri=True)) as run:
        return int(run.execute("SELECT COUNT(*) FROM certificates").fetchone()[0])
    return 0  # no file, no table, or locked for a moment


def _export(out: Path) -> list[list[Any]]:
    """Return the rows of a run's log without their last column, the time."""
    return [line.split("\t")[:-1] for line in export_run(sc.Run.open(out), "tsv").decode().splitlines()]
