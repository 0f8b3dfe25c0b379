"""Which images are the ends of a run: the easiest, the hardest certified, abstained ones and wrong ones."""

from __future__ import annotations

import numpy as np

from smoothcert.store import Run


def extremes(run: Run, count: int) -> list[dict[str, list[int]]]:
    """Return two rows of positions in the run, by heading; room a group cannot fill goes to its neighbour."""
    results, votes, half = run.results, np.asarray(run.column("samples")), max(count // 2, 1)
    order = np.lexsort((results.index, votes, -results.radius)).tolist()  # largest radius, then fewest votes
    correct, abstained = results.correct, results.predicted < 0
    easy = [i for i in order if correct[i]]
    unsure = [i for i in np.argsort(run.p_hat, kind="stable").tolist() if abstained[i] and run.answered[i]]
    wrong = [i for i in order if not correct[i] and not abstained[i]]
    top = _share({"easiest": easy, "abstained": unsure}, half)
    hard = [i for i in reversed(easy) if i not in top.get("easiest", [])]
    return [row for row in (top, _share({"hardest": hard, "wrong class": wrong}, half)) if row]


def _share(groups: dict[str, list[int]], places: int) -> dict[str, list[int]]:
    """Give two groups half of the places each, more where the other needs less; leave out empty ones."""
    (first, ours), (second, theirs) = groups.items()
    left = min(len(ours), max(places - places // 2, places - len(theirs)))
    shared = {first: ours[:left], second: theirs[: places - left]}
    return {title: chosen for title, chosen in shared.items() if chosen}
