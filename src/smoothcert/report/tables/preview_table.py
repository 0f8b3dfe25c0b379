"""The cost preview as a table: ranges, and what would shorten the run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smoothcert.amounts import amount
from smoothcert.execution import Cost, RunPreview, Speed
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.duration import show_range
from smoothcert.report.tables.terminal import print_tables

_FASTER = 1.15  # from where on another engine or more workers are worth a line
_ENOUGH_IMAGES = 500  # as papers certify of CIFAR-10


def print_preview(told: RunPreview) -> None:
    """Print the range of votes and time, by procedure and number of workers, and what would shorten a long run."""
    columns = [speed for speed in told.speeds if speed.workers in (1, told.here.workers)]
    table = make_table(
        f"Cost of {amount(told.images, 'image')}, by the procedure asked for first",
        ("procedure", "votes/image", "95% range", *(_heading(speed) for speed in columns)),
        (_row(told, cost, columns) for cost in told.costs),
    )
    small_print = (
        f"engine {told.engine}, started and set up in {told.set_up:.1f} s, about {told.memory_mb:,.0f} MB; "
        "votes/s: "
        + ", ".join(
            f"{s.mean:,.0f} by {s.workers} ({s.slowest:,.0f} to {s.fastest:,.0f})" for s in told.speeds
        ),
        _source(told),
        *_advice(told),
    )
    print_tables([table], small_print, width=120)


def _heading(speed: Speed) -> str:
    return f"{speed.workers} worker{'s' * (speed.workers > 1)}"


def _row(told: RunPreview, cost: Cost, speeds: Sequence[Speed]) -> list[str]:
    votes = cost.votes
    known = round(votes.low) == round(votes.high)
    ends = "" if known else f"{_figure(votes.low)} to {_figure(votes.high)}"
    cells = [cost.rival.label, _figure(votes.mean), ends]
    return cells + [show_range(*told.seconds(cost, speed)) for speed in speeds]


def _figure(votes: float) -> str:
    return f"{votes:,.0f}" if votes < 999_500 else f"{votes / 1e6:,.1f}M"


def _source(told: RunPreview) -> str:
    pilot = told.pilot
    least, most = int(pilot.drawn.min()), int(pilot.drawn.max())
    votes = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    seconds = 10 * told.trial_seconds
    longer = "" if len(pilot) == pilot.images else f"; --trial-seconds {seconds:g} narrows the range"
    return f"From {votes} votes of {len(pilot):,} of the images; nothing was written{longer}."


def _advice(told: RunPreview) -> Iterator[str]:
    """Yield what would shorten the run, by figures of this trial; nothing for a run of a minute."""
    lines = list(_shorter(told)) if told.is_long else []
    if lines:
        yield "What would shorten it, as measured here:"
        yield from (f"  {line}" for line in lines)


def _shorter(told: RunPreview) -> Iterator[str]:
    wanted, here = told.costs[0], told.here
    if told.images >= 2 * _ENOUGH_IMAGES:
        every = told.images // _ENOUGH_IMAGES
        fewer = -(-told.images // every)
        left = show_range(*told.seconds(wanted, images=fewer))
        yield f"--every {every}: {left}, for {fewer:,} of the images"
    best = min(told.costs, key=lambda cost: cost.votes.high)
    if best is not wanted and best.votes.high < wanted.votes.mean:
        yield f"{best.rival.options}: {show_range(*told.seconds(best))}"
    for speed in told.speeds:
        if speed.mean > _FASTER * here.mean:
            yield f"--workers {speed.workers}: {speed.mean / here.mean:.1f} times as fast"
    if told.autocast_gain > _FASTER:
        yield (
            f"--engine autocast: {told.autocast_gain:.1f} times as fast; another classifier, in bfloat16, is "
            "certified then"
        )
