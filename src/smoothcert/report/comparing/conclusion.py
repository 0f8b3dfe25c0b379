"""The one sentence that may be concluded from a comparison: true of all its radii at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from scipy.special import ndtri

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
    return floor_digits(100 * ends[0], 2), ceil_digits(100 * ends[1], 2)


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
    parts = []
    if b_more:
        parts.append(f"B certifies more than A at r = {_radii(b_more)}")
    if a_more:
        parts.append(f"A certifies more than B at r = {_radii(a_more)}")
    text = f"On images like these {', and '.join(parts)} ({_level(comparison)})"
    clearest = max((*b_more, *a_more), key=_distance)
    low, high = points(_towards_more(clearest))
    who = "B" if clearest in b_more else "A"
    text += f"; at r = {clearest.radius:g} {who} certifies {low} to {high} points more"
    left = len(compared) - len(b_more) - len(a_more)
    return text + (
        f"; at {_count(left, 'other radius', 'other radii')} nothing can be concluded." if left else "."
    )


def _nothing(comparison: Comparison) -> str:
    """Say that nothing can be concluded, and how many images a difference as large as the one seen would need."""
    compared = comparison.compared
    if not any(one.only_a or one.only_b for one in compared):
        return "Nothing can be concluded: at these radii A and B certify the same images."
    text = f"Nothing can be concluded: every interval ({_level(comparison)}) has 0 in it"
    level = (1 - comparison.confidence) / len(comparison.at)
    needs = {needed: one for one in compared if (needed := _images_needed(one, len(comparison.pairs), level))}
    if not needs:
        return text + "."
    needed = min(needs)
    seen = f"{100 * abs(needs[needed].difference):.2g} points at r = {needs[needed].radius:g}"
    return f"{text}; if a difference is as large as seen ({seen}), about {needed:,} images would show it 4 times in 5."


def _images_needed(one: RadiusDifference, images: int, level: float) -> int | None:
    """Return about how many images would show a difference as large as the one seen; None where none was seen."""
    gain = (one.only_b - one.only_a) / images
    if not gain:
        return None
    spread = float(ndtri(1 - level / 2) + ndtri(_POWER))
    needed = spread**2 * ((one.only_a + one.only_b) / images / gain**2 - 1)
    digits = 10 ** max(len(str(math.ceil(needed))) - 2, 0)  # it is an estimate: two digits, rounded up
    return max(math.ceil(needed / digits) * digits, images + 1)


def _towards_more(one: RadiusDifference) -> tuple[float, float]:
    """Return the joint interval as gain of the better one."""
    low, high = one.joint or (0.0, 0.0)
    return (low, high) if low > 0 else (-high, -low)


def _distance(one: RadiusDifference) -> float:
    """Return how far the joint interval lies from 0."""
    return _towards_more(one)[0]


def _level(comparison: Comparison) -> str:
    radii = len(comparison.at)
    return f"{percent_of(comparison.confidence)} confidence" + (
        f", for all {radii} radii at once" if radii > 1 else ""
    )


def _radii(found: Sequence[RadiusDifference]) -> str:
    names = [f"{one.radius:g}" for one in found]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _count(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
