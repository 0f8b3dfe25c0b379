"""What stands below a table of summaries: which images they are about, how they were made, and what to mind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smoothcert.amounts import amount
from smoothcert.certificates import ACR_CAVEAT
from smoothcert.report.summary import Summary
from smoothcert.report.wording import failed_text, unfinished_text

_TURNED = {
    (
        "l2",
        "linf",
    ): "linf radii are l2 radii divided by the square root of the number of coordinates: true, but weak; "
    "noise made for l2 cannot do much better in high dimensions.",
    ("l1", "linf"): "linf radii are l1 radii divided by the number of coordinates: true, but weak.",
    (
        "l1",
        "l2",
    ): "l2 radii are l1 radii divided by the square root of the number of coordinates: true, but weak.",
}


def small_print(summaries: Sequence[Summary], about_cells: Sequence[str]) -> Iterator[str]:
    """Yield the lines.

    Args:
        summaries: the rows of the table.
        about_cells: what marks and headings of this table mean.
    """
    yield from _warnings(summaries)
    yield from image_lines(summaries)
    yield from sorted({summary.setting for summary in summaries if summary.manifest})
    yield from _consensus(summaries)
    if any(summary.default is not None for summary in summaries):
        yield (
            "default: what the same votes prove without bounding the runner-up. Each of the two rows errs with "
            "probability at most alpha per image; picking the better one image by image would err more often."
        )
    for source, target in sorted({pair for summary in summaries for pair in _turned(summary)}):
        yield _TURNED.get((source, target), f"{target} radii are {source} radii as they are: true, but weak.")
    yield from about_cells
    yield from acr_lines(summaries)


def image_lines(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield which images summaries are about, once where all are about the same."""
    common = {summary.indices for summary in summaries}
    if len(common) == 1:
        yield f"{'All about' if len(summaries) > 1 else 'About'} {common.pop()}."
    else:
        yield from (f"{summary.name}: {summary.indices}" for summary in summaries)


def acr_lines(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield what to mind about average certified radii."""
    if len({summary.asked for summary in summaries}) > 1:
        yield (
            "ACR of a run that asked about some radii counts none beyond the largest of them: do not compare it with "
            "that of a run that asked about others, or looked for the largest."
        )
    yield ACR_CAVEAT


def _warnings(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield what makes figures wrong, or wrong to compare."""
    for summary in summaries:
        if summary.missing:
            yield unfinished_text(summary.name, summary.missing)
        if summary.run is not None and summary.run.share is not None:
            listed = len(summary.manifest["indices"])
            yield f"{summary.name} is shard {summary.run.share} of a plan of {amount(listed, 'image')}."
        if summary.failures:
            yield failed_text(summary.name, summary.failures, summary.images)
    if len({summary.reach.norm for summary in summaries} - {None}) > 1:
        yield "Warning: these runs measure radii in different norms; their radii cannot be compared."
    if len({summary.manifest["dataset"]["digest"] for summary in summaries if summary.manifest}) > 1:
        yield "Warning: these runs are about different data."


def _consensus(summaries: Sequence[Summary]) -> Iterator[str]:
    """Yield how often the first members of an ensemble agreed."""
    for summary in summaries:
        rate, ensemble = summary.cost.get("consensus_rate"), summary.manifest.get("ensemble", {})
        if rate is not None:
            first = ensemble["early_exit"].get("k", "")
            yield (
                f"{summary.name}: in {rate:.1%} of the votes (KCR) the first {first} members agreed; "
                f"{summary.evaluations_per_vote:.2f} evaluations per vote of at most "
                f"{ensemble['evaluations_per_vote']}."
            )


def _turned(summary: Summary) -> list[tuple[str, str]]:
    """Return the norm of the noise and that of the radii, where these differ."""
    source = summary.manifest.get("norm_of_noise")
    return [] if source is None else [(source, summary.manifest["norm"])]
