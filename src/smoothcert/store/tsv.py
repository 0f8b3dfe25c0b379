"""The field's text format: idx, label, predict, radius, correct, time; one image per line."""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import Reach, Results
from smoothcert.errors import FormatError, StoreError
from smoothcert.reading import read_bytes
from smoothcert.rounding import floor_digits
from smoothcert.store.log_columns import COLUMNS, LogColumns, find_columns
from smoothcert.store.log_reach import largest_found, read_reach
from smoothcert.store.manifest_fields import MOST_INDEX, MOST_RADIUS
from smoothcert.store.rows import MOST_LABEL
from smoothcert.store.run import Run

_MOST_BYTES = 2**24  # some 500,000 images
_WIDEST = 2**12  # letters of a line
_DAY = 86_400  # seconds


@dataclass(frozen=True)
class Log:
    """What a log in the field's columns holds.

    Args:
        results: the certificates.
        seconds: of each image.
        reach: which radii they can speak of, as far as the log or the file beside it tells.
        ignored: names of columns that were not read.
    """

    results: Results
    seconds: NDArray[np.float64]
    reach: Reach
    ignored: tuple[str, ...] = ()


def clock(seconds: float) -> str:
    """Return seconds as H:MM:SS.ffffff."""
    micro = round(seconds * 1e6)
    minutes, micro = divmod(micro, 60_000_000)
    return f"{minutes // 60}:{minutes % 60:02d}:{micro // 1_000_000:02d}.{micro % 1_000_000:06d}"


def format_tsv(run: Run) -> str:
    """Return a run as a table in the field's columns; radii rounded down, abstentions as -1."""
    results = run.results
    lines = ["\t".join(COLUMNS)]
    for i, seconds in enumerate(run.column("seconds")):
        row = (
            results.index[i],
            results.label[i],
            results.predicted[i],
            floor_digits(results.radius[i]),
            int(results.correct[i]),
            clock(seconds),
        )
        lines.append("\t".join(str(value) for value in row))
    return "\n".join(lines) + "\n"


def read_tsv(path: str | Path) -> tuple[Results, np.ndarray]:
    """Return the certificates and the seconds of each image from a log in the field's columns.

    Args:
        path: a tab-separated file; further columns are ignored. A bad row is refused with its line number.
    """
    log = read_log(path)
    return log.results, log.seconds


def read_log(path: str | Path, target: float | None = None) -> Log:
    """Return what a log in the field's columns holds; refusals as for `read_tsv`.

    Args:
        path: a tab-separated file; further columns are ignored, and told.
        target: the radius that an adaptive certification asked about, for a log that says `radius proved`; in pixel
            units. Others have radii of their own.
    """
    file = Path(path)
    content = read_bytes(file, StoreError, most=_MOST_BYTES)
    try:
        lines = content.decode("utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{file} is not text: {error}") from error
    columns = find_columns(file, lines[0][:_WIDEST].split("\t") if lines else [], target)
    numbers, values = array("q"), array("d")  # not lists: a log may have a million lines
    for number, line in enumerate(lines[1:], start=2):
        if line.strip():
            numbers.append(number)
            values.extend(_row(file, number, line, columns))
    table = np.array(values, dtype=np.float64).reshape(-1, 5)
    index, label, predicted = table[:, :3].T.astype(np.int64)
    _refuse_repeats(file, np.array(numbers), index)
    results = Results(index, label, predicted, table[:, 3])
    if columns.target is None:
        reach = read_reach(file, content, results)
    else:
        reach = Reach(largest_found(results), (columns.target,), is_known=False)
    return Log(results, table[:, 4], reach, columns.ignored)


def _row(file: Path, number: int, line: str, columns: LogColumns) -> tuple[int, int, int, float, float]:
    """Read one line: (idx, label, predict, radius, seconds)."""
    cells = line[:_WIDEST].split("\t")
    try:
        if len(line) > _WIDEST:
            raise ValueError(f"longer than {_WIDEST} letters")
        idx, label, predict, radius, correct, time = (cells[place] for place in columns.places)
        predicted = int(predict)
        row = (int(idx), int(label), predicted, columns.radius(radius, predicted), _seconds(time))
        if not 0 <= row[3] <= MOST_RADIUS:
            raise ValueError(f"radius {radius} is not a finite number >= 0, or above {MOST_RADIUS:g}")
        if not 0 <= row[0] <= MOST_INDEX:
            raise ValueError(f"idx {idx} must be from 0 to {MOST_INDEX}")
        if not 0 <= row[1] < MOST_LABEL or not -1 <= row[2] < MOST_LABEL:
            raise ValueError(
                f"label {label} must be from 0 and predict {predict} from -1 (abstained), both below {MOST_LABEL}"
            )
        if int(correct) != (row[1] == row[2]):
            raise ValueError(f"correct is {correct}, but label is {label} and predict is {predict}")
    except (ValueError, IndexError) as error:
        reason = f"only {len(cells)} columns" if isinstance(error, IndexError) else str(error)
        raise FormatError(
            f"{file} line {number}: {reason}; fix or remove the line: {line[:200]!r}"
        ) from error
    return row


def _seconds(text: str) -> float:
    """Read H:MM:SS.ffffff (hours and minutes may be missing), after "2 days, " if it took so long, or plain seconds."""
    days, _, clock_time = text.rpartition(", ")
    total = 0.0
    for part in clock_time.split(":"):
        total = total * 60 + float(part)
    if days:
        total += _DAY * int(days.removesuffix("s").removesuffix(" day"))
    if not 0 <= total < float("inf"):
        raise ValueError(f"time {text} is not a finite number >= 0")
    return total


def _refuse_repeats(file: Path, numbers: NDArray[np.int64], index: NDArray[np.int64]) -> None:
    """Refuse an image that stands on two lines, whose numbers are given."""
    order = np.argsort(index, kind="stable")
    again = np.flatnonzero(np.diff(index[order]) == 0)
    if len(again):
        first, second = numbers[order[again[0]]], numbers[order[again[0] + 1]]
        raise FormatError(
            f"{file} line {second}: idx {index[order[again[0]]]} stands already on line {first}; keep one"
        )
