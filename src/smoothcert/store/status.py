"""How a run is getting on: what its process writes down now and then, and what another process reads of it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from smoothcert.errors import DamagedRunError, InvalidArgumentError, StoreError
from smoothcert.execution import Heartbeat
from smoothcert.reading import parse_json
from smoothcert.store.database import RunDatabase, refuse_no_run
from smoothcert.store.origin import noted_places, noted_share

_SILENT_SECONDS = 120.0
"""Of a process on another machine: without a heartbeat for so long it is taken to be gone."""


class State(Enum):
    """Whether anybody draws; the value is the word for it."""

    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "finished, but for images on which the model failed"
    STOPPED = "stopped"
    SILENT = "silent"


@dataclass(frozen=True)
class RunStatus:
    """What a run folder tells of a run that may be under way. Not a check of it, which an audit is.

    Args:
        folder: of the run.
        state: whether anybody draws.
        images: to be certified in this folder; of a shard those of its share.
        done: those that have their certificate.
        failures: why the model could not answer some, by index.
        votes: of the finished images.
        shard: "3/16" where the folder holds a share of a plan.
        pid: of the process that draws, or was killed.
        host: its machine.
        beat: its last heartbeat; None where there is none.
        beat_age: seconds since then.
        manifest: what identifies the run.
        places: where model, data and plan were.
    """

    folder: Path
    state: State
    images: int
    done: int
    failures: Mapping[int, str]
    votes: int
    shard: str | None
    pid: int | None
    host: str | None
    beat: Heartbeat | None
    beat_age: float | None
    manifest: Mapping[str, Any]
    places: Mapping[str, Path]

    @property
    def left(self) -> int:
        """Images that nobody has finished yet, those under way included."""
        return self.images - self.done - len(self.failures)

    def to_json(self) -> dict[str, Any]:
        """Return plain values; nothing of the seed is among them."""
        beat = None if self.beat is None else {**asdict(self.beat), "age": self.beat_age}
        return {
            "path": str(self.folder),
            "state": self.state.name.lower(),
            "images": self.images,
            "done": self.done,
            "failed": len(self.failures),
            "left": self.left,
            "failures": {str(index): reason for index, reason in self.failures.items()},
            "votes_of_finished_images": self.votes,
            "shard": self.shard,
            "pid": self.pid,
            "host": self.host,
            "heartbeat": beat,
        }


def beating(heartbeat: Heartbeat) -> dict[str, Any]:
    """Return a heartbeat as plain values, with the time of day."""
    return {**asdict(heartbeat), "time": time.time()}


def run_status(folder: str | Path) -> RunStatus:
    """Read how a run is getting on; takes no lock, so that whoever draws is not disturbed.

    Args:
        folder: of the run, on the machine that draws it: SQLite's log is not shared over a network.
    """
    from smoothcert.store.places import who_writes

    path = Path(folder)
    refuse_no_run(path)
    holder = who_writes(path)  # before the rows: a run that ends in between is one that has just finished
    database = RunDatabase(path, writable=False, whole=False)
    try:
        manifest = database.checked_manifest()
        if manifest is None:
            raise StoreError(f"{database.where} holds no run yet; start it again with resume")
        share = noted_share(database)
        indices = manifest["indices"] if share is None else share.images(manifest["indices"])
        done, votes = database.rows("SELECT COUNT(*), COALESCE(SUM(samples), 0) FROM certificates")[0]
        failed = dict(database.rows("SELECT idx, reason FROM failures ORDER BY idx LIMIT 10000"))
        beat, age = _last_beat(database)
        places = noted_places(database)
    finally:
        database.close()
    alive = False if holder is None else holder.is_alive
    if alive is None:
        alive = None if age is None or age > _SILENT_SECONDS else True
    left = len(indices) - done - len(failed)
    return RunStatus(
        path,
        _state(alive, left, bool(failed)),
        len(indices),
        done,
        failed,
        votes,
        None if share is None else str(share),
        None if holder is None else holder.pid or None,
        None if holder is None else holder.host or None,
        beat,
        age,
        manifest,
        places,
    )


def _state(alive: bool | None, left: int, failed: bool) -> State:
    if alive:
        return State.RUNNING
    if not left:
        return State.FAILED if failed else State.FINISHED
    return State.SILENT if alive is None else State.STOPPED


def _last_beat(database: RunDatabase) -> tuple[Heartbeat | None, float | None]:
    """Return the last heartbeat and its age in seconds; none for what is no heartbeat, which harms nobody."""
    rows = database.rows("SELECT state FROM heartbeat WHERE typeof(state) = 'text' AND length(state) < 10000")
    try:
        told = dict(parse_json(rows[0][0], "the heartbeat", DamagedRunError))
        moment = float(told.pop("time"))
        return Heartbeat(**told), max(time.time() - moment, 0.0)
    except (IndexError, LookupError, TypeError, ValueError, DamagedRunError, InvalidArgumentError):
        return None, None
