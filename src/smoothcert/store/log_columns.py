"""The columns of the field's logs: which stand where, and what the one about the radius says.

Cohen et al. and most after them write the radius of each image. The adaptive certifications of Horvath et al. write
`radius proved` in its place: 1 where the image was certified at the run's one target radius, -1 where it was not. Which
radius that was is in none of their columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from smoothcert.errors import FormatError
from smoothcert.visible import brief, visible

COLUMNS = ("idx", "label", "predict", "radius", "correct", "time")
PROVED = "radius proved"


@dataclass(frozen=True)
class LogColumns:
    """Where the columns of a log stand.

    Args:
        places: of `COLUMNS`, in their order.
        ignored: names of the columns that are not read.
        target: the radius that `PROVED` is about, in pixel units; None where the log has radii of its own.
    """

    places: tuple[int, ...]
    ignored: tuple[str, ...]
    target: float | None

    def radius(self, cell: str, predicted: int) -> float:
        """Return the radius that a cell tells; refuse, by ValueError, what contradicts itself.

        Args:
            cell: text of the column about the radius.
            predicted: the class, or -1 for none.
        """
        if self.target is None:
            return float(cell)
        proved = float(cell) > 0
        if float(cell) not in (1, 0, -1) or proved != (predicted >= 0):
            raise ValueError(
                f"{PROVED} is {cell} and predict {predicted}, but it must be 1 with a class, or -1 with -1"
            )
        return self.target if proved else 0.0


def find_columns(file: Path, header: list[str], target: float | None) -> LogColumns:
    """Return where the columns of a log stand; a layout that is not known is refused by its columns.

    Args:
        file: the log, for messages.
        header: names of its columns.
        target: the radius that the run asked about, for a log that does not tell.
    """
    proved = PROVED in header and "radius" not in header
    wanted = tuple(PROVED if proved and name == "radius" else name for name in COLUMNS)
    missing = [name for name in wanted if name not in header]
    if missing:
        raise FormatError(
            f"{file} line 1: missing column {', '.join(missing)}; expected {' '.join(COLUMNS)}, tab-separated, "
            f"as export --format tsv writes them, or {PROVED!r} for radius; it has {_shown(header)}"
        )
    if proved and target is None:
        raise FormatError(
            f"{file} is the log of an adaptive certification at one radius, and {PROVED!r} does not tell which; "
            "say it with target (--target 0.25)"
        )
    ignored = tuple(visible(name) for name in header if name not in wanted)
    return LogColumns(tuple(header.index(name) for name in wanted), ignored, target if proved else None)


def _shown(header: list[str]) -> str:
    return ", ".join(brief(name, 40) for name in header[:20]) or "nothing"
