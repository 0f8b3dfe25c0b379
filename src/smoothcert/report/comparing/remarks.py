"""What to mind about a comparison: how the two runs differ, and what is not known of them."""

from __future__ import annotations

from collections.abc import Iterator

from smoothcert.report.comparing.pairing import Pairs
from smoothcert.report.summary import Summary
from smoothcert.report.wording import failed_text, setting_parts, unfinished_text
from smoothcert.rounding import floor_digits


def remarks(a: Summary, b: Summary, pairs: Pairs) -> Iterator[str]:
    """Yield sentences, the weightiest first.

    Args:
        a: first run or log.
        b: second run or log.
        pairs: what was compared of them.
    """
    for summary in (a, b):
        if summary.missing:
            yield unfinished_text(summary.name, summary.missing)
        if summary.failures:
            yield failed_text(summary.name, summary.failures, summary.images)
    if pairs.only_a or pairs.only_b:
        yield (
            f"Only the {len(pairs):,} images that both have are compared; {pairs.only_a:,} of A and "
            f"{pairs.only_b:,} of B are left out."
        )
    if is_same_model(a, b):
        yield "A and B are runs of the same model: what differs comes from their noise, votes and procedure alone."
    if a.manifest and b.manifest:
        theirs = setting_parts(b.manifest)
        for what, mine in setting_parts(a.manifest).items():
            if mine != theirs[what]:
                yield f"Different {what}: A {mine}, B {theirs[what]}."
    logs = [letter for letter, one in (("A", a), ("B", b)) if not one.manifest]
    if logs:
        are = "is a log, which does" if len(logs) == 1 else "are logs, which do"
        yield (
            f"{' and '.join(logs)} {are} not tell data set, noise, procedure and alpha: that they fit, beyond the "
            "labels of the images, is trusted."
        )
    largest = [summary.reach.largest for summary in (a, b) if summary.reach.is_known]
    ends = ["none" if one is None else floor_digits(one, 5) for one in largest]
    if not acr_obstacle(a, b) and len(set(ends)) == 2:
        yield (
            f"ACR: the votes of A can prove radii up to {ends[0]}, those of B up to {ends[1]}; part of the difference "
            "may come from that."
        )


def is_same_model(a: Summary, b: Summary) -> bool:
    """Return whether two runs are about one model, as far as they tell."""
    return bool(a.manifest and b.manifest) and a.manifest["model"] == b.manifest["model"]


def acr_obstacle(a: Summary, b: Summary) -> str:
    """Return why two average radii cannot be compared; empty where they can."""
    if a.asked == b.asked:
        return ""
    return "not compared: A and B asked about different radii, beyond which an average counts none"
