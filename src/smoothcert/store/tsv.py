"""The field's text format: idx, label, predict, radius, correct, time; one image per line."""

from __future__ import annotations

from decimal import ROUND_FLOOR, Decimal, localcontext
from pathlib import Path

import numpy as np

from smoothcert.certificates import Results
from smoothcert.errors import FormatError, StoreError
from smoothcert.store.run import Run

COLUMNS = ("idx", "label", "predict", "radius", "correct", "time")
_LARGEST = 2**53  # what a float holds exactly


def floor_digits(value: float, digits: int = 6) -> str:
    """Return a radius rounded down to `digits` decimals, so that reading it back never gives a larger one."""
    with localcontext(prec=400):  # enough for every float
        return str(Decimal(repr(float(value))).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_FLOOR))


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
    file = Path(path)
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError as error:
        raise FormatError(f"{file} is not text: {error}") from error
    except OSError as error:
        raise StoreError(f"cannot read {file}: {error.strerror or error}") from error
    header = lines[0].split("\t") if lines else []
    missing = [name for name in COLUMNS if name not in header]
    if missing:
        raise FormatError(
            f"{file} line 1: missing column {', '.join(missing)}; expected {' '.join(COLUMNS)}, tab-separated"
        )
    places = [header.index(name) for name in COLUMNS]
    rows = {
        number: _row(file, number, line, places)
        for number, line in enumerate(lines[1:], start=2)
        if line.strip()
    }
    _refuse_repeats(file, {number: row[0] for number, row in rows.items()})
    table = np.array(list(rows.values()), dtype=np.float64).reshape(-1, 5)
    results = Results(
        index=table[:, 0].astype(np.int64),
        label=table[:, 1].astype(np.int64),
        predicted=table[:, 2].astype(np.int64),
        radius=table[:, 3],
    )
    return results, table[:, 4]


def _row(file: Path, number: int, line: str, places: list[int]) -> tuple[int, int, int, float, float]:
    """Read one line: (idx, label, predict, radius, seconds)."""
    cells = line.split("\t")
    try:
        idx, label, predict, radius, correct, time = (cells[place] for place in places)
        row = (int(idx), int(label), int(predict), float(radius), _seconds(time))
        if not 0 <= row[3] < float("inf"):
            raise ValueError(f"radius {radius} is not a finite number >= 0")
        if row[0] < 0 or row[2] < -1:
            raise ValueError(f"idx {idx} must be >= 0 and predict {predict} >= -1")
        if max(abs(number) for number in row[:3]) > _LARGEST:
            raise ValueError(f"idx, label and predict must be at most {_LARGEST}, got {max(row[:3])}")
        if int(correct) != (row[1] == row[2]):
            raise ValueError(f"correct is {correct}, but label is {label} and predict is {predict}")
    except (ValueError, IndexError) as error:
        reason = f"only {len(cells)} columns" if isinstance(error, IndexError) else str(error)
        raise FormatError(f"{file} line {number}: {reason}; mend or remove the line: {line!r}") from error
    return row


def _seconds(text: str) -> float:
    """Read H:MM:SS.ffffff (hours and minutes may be missing) or plain seconds."""
    total = 0.0
    for part in text.split(":"):
        total = total * 60 + float(part)
    if not 0 <= total < float("inf"):
        raise ValueError(f"time {text} is not a finite number >= 0")
    return total


def _refuse_repeats(file: Path, indices: dict[int, int]) -> None:
    """Refuse an image that stands on two lines; `indices` are by line number."""
    seen: dict[int, int] = {}
    for number, index in indices.items():
        if index in seen:
            raise FormatError(
                f"{file} line {number}: idx {index} stands already on line {seen[index]}; keep one"
            )
        seen[index] = number
