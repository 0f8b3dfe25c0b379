"""The one sentence that may be concluded from a comparison: true of all its radii at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scipy.special import ndtri

from smoothcert.amounts import amount
from smoothcert.report.comparing.remarks import is_same_model
from smoothcert.rounding import ceil_digits, floor_digits

if TYPE_CHECKING:
    from smoothcert.report.comparing.comparison import Comparison, RadiusDifference

_POWER = 0.8  # "four times in five"


def conclude(comparison: Comparison) -> str:
    """Return the sentence; it claims a difference only where the joint interval excludes 0."""
    return ("Provisional, as a run is unfinished: " if _is_unfinished(comparison) else "") + _sentence(
        comparison
    )


def points(ends: tuple[float, float]) -> tuple[str, str]:
    """Return an interval of fractions in points of a percent, rounded outward to two decimals."""
    return floor_digits(100 * ends[0], _digits(ends)), ceil_digits(100 * ends[1], _digits(ends))


def _digits(ends: tuple[float, float]) -> int:
    """Return how many decimals tell an interval of points from one that has 0 in it."""
    return next((digits for digits in (2, 3, 4) if not _hides(ends, digits)), 2)


def _hides(ends: tuple[float, float], digits: int) -> bool:
    low, high = float(floor_digits(100 * ends[0], digits)), float(ceil_digits(100 * ends[1], digits))
    return (low == 0 < ends[0]) or (high == 0 > ends[1])


def percent_of(share: float) -> str:
    """Return a share as a percentage, with the digits that it has."""
    return f"{100 * share:.6g}%"


def _is_unfinished(comparison: Comparison) -> bool:
    return bool(comparison.a.missing or comparison.b.missing)


def _sentence(comparison: Comparison) -> str:
    compared, b_more, a_more = comparison.compared, comparison.b_more, comparison.a_more
    if not compared:
        return "Nothing can be compared: at none of these radii can both A and B speak."
    if not b_more and not a_more:
        return _nothing(comparison)
    parts = [
        f"{winner} certifies more than {other} at r = {_radii(found)}"
        for winner, other, found in (("B", "A", b_more), ("A", "B", a_more))
        if found
    ]
    clearest = max((*b_more, *a_more), key=_distance)
    low, high = points(_towards_more(clearest))
    amount = f"{low} to {high} points"
    text = f"On images like these {', and '.join(parts)}"
    if len(b_more) + len(a_more) == 1:
        text += f", by {amount} ({_level(comparison)})"
    else:
        who = "B" if clearest in b_more else "A"
        text += f" ({_level(comparison)}); at r = {clearest.radius:g} {who} certifies {amount} more"
    undecided = [one for one in compared if one not in (*b_more, *a_more)]
    return text + (f"; at r = {_radii(undecided)} nothing can be concluded." if undecided else ".")


def _nothing(comparison: Comparison) -> str:
    """Say that nothing can be concluded, and how many images a difference as large as the one seen would need."""
    compared = comparison.compared
    if not any(one.only_a or one.only_b for one in compared):
        return "Nothing can be concluded about certified accuracy: at these radii A and B certify the same images."
    text = f"Nothing can be concluded about certified accuracy: every interval ({_level(comparison)}) has 0 in it"
    level = (1 - comparison.confidence) / len(comparison.at)
    needs = {needed: one for one in compared if (needed := _images_needed(one, len(comparison.pairs), level))}
    if not needs or is_same_model(
        comparison.a, comparison.b
    ):  # of one model there is no true difference to show
        return text + "."
    needed = min(needs)
    seen = f"{100 * abs(needs[needed].difference):.2g} points at r = {needs[needed].radius:g}"
    enough = f"about {amount(needed, 'image')} would show it 4 times in 5"
    return f"{text}; if a difference is as large as seen ({seen}), {enough}."


def _images_needed(one: RadiusDifference, images: int, level: float) -> int | None:
    """Return about how many images would show a difference as large as the one seen; None where none was seen."""
    gain = (one.only_b - one.only_a) / images
    if not gain:
        return None
    spread = float(ndtri(1 - level / 2) + ndtri(_POWER))
    needed = spread**2 * ((one.only_a + one.only_b) / images / gain**2 - 1)
    digits: int = 10 ** max(len(str(math.ceil(needed))) - 2, 0)  # it is an estimate: two digits, rounded up
    return max(math.ceil(needed / digits) * int(digits), images + 1)


def _towards_more(one: RadiusDifference) -> tuple[float, float]:
    """Return the joint interval as gain of the better one."""
    low, high = one.joint or (0.0, 0.0)
    return (low, high) if low > 0 else (-high, -low)


def _distance(one: RadiusDifference) -> float:
    """Return how far the joint interval lies from 0."""
    return _towards_more(one)[0]


def _level(comparison: Comparison) -> str:
    radii = len(comparison.at)
    at_once = {1: "", 2: ", for both radii at once"}.get(radii, f", for all {radii} radii at once")
    return f"{percent_of(comparison.confidence)} confidence{at_once}"


def _radii(found: Sequence[RadiusDifference]) -> str:
    names = [f"{one.radius:g}" for one in found]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
