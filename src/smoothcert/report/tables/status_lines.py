"""How a run is getting on, in lines for a terminal, and how to continue one that nobody draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from smoothcert.amounts import amount
from smoothcert.report.page.repeat_command import resume_command
from smoothcert.report.tables.duration import show_duration
from smoothcert.store import RunStatus, State

_STILL = 60.0  # seconds without a heartbeat that are worth a word
_SHOWN = 3  # failures told one by one


def status_lines(status: RunStatus) -> Iterator[str]:
    """Yield what there is to say about a run."""
    share = "" if status.shard is None else f" (shard {status.shard})"
    percent = math.floor(1_000 * status.done / max(status.images, 1)) / 10
    failed = f", {len(status.failures):,} failed" if status.failures else ""
    yield (
        f"{status.folder}{share}: {status.state.value}{_who(status)}; {status.done:,} of "
        f"{amount(status.images, 'image')} done ({percent:g}%){failed}"
    )
    if status.state in (State.RUNNING, State.SILENT):
        yield from _pace(status)
    for index, reason in list(status.failures.items())[:_SHOWN]:
        yield f"  image {index} failed: {reason}"
    if len(status.failures) > _SHOWN:
        yield f"  and {len(status.failures) - _SHOWN:,} more (--json lists them)"
    if status.state is not State.RUNNING and (status.left or status.failures):
        yield f"  continue with: {resume_command(status) or 'the same command with --resume'}"


def status_to_json(status: RunStatus) -> dict[str, Any]:
    """Return plain values, with the command that continues a run that nobody draws; null where it cannot be told."""
    to_do = status.state is not State.RUNNING and (status.left or status.failures)
    return {**status.to_json(), "resume_command": resume_command(status) if to_do else None}


def _who(status: RunStatus) -> str:
    if status.state is State.RUNNING:
        return f" (process {status.pid} on {status.host})"
    if status.state is State.SILENT:
        return f" (process {status.pid} on {status.host}, which cannot be asked from here)"
    return ", its process was killed" if status.pid is not None and status.state is State.STOPPED else ""


def _pace(status: RunStatus) -> Iterator[str]:
    beat, age = status.beat, status.beat_age
    if beat is None or age is None:
        yield "  preparing, no vote yet"
        return
    speed = "" if beat.votes_per_second is None else f" at {beat.votes_per_second:,.0f} votes per second"
    left = "" if beat.seconds_left is None else f", about {show_duration(beat.seconds_left)} left"
    lost = f", {amount(beat.workers_lost, 'worker')} lost" if beat.workers_lost else ""
    yield (
        f"  {beat.votes:,} votes since its start {show_duration(beat.seconds)} ago{speed}{left}; "
        f"{amount(beat.under_way, 'image')} under way, {amount(beat.workers, 'worker')}{lost}"
    )
    if age >= _STILL:
        yield f"  the last word of it is {show_duration(age)} old: a slow batch, or it hangs"
