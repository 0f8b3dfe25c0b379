"""What certificates cost, as columns of a table: votes, passes, and what early stopping saved."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from smoothcert.certificates import PROCEDURES
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.summary import Summary
from smoothcert.rounding import floor_digits
from smoothcert.store import Run

COST_LINES = {
    "votes": "votes: mean per image, counting those that chose the class.",
    "passes": "passes: network evaluations per vote, as counted; of heads, where one network has several.",
    "SampleRF": "SampleRF: votes of CERTIFY (100 + 100,000) over votes per image of the run, rounded down.",
    "TimeRF": "TimeRF: worker seconds per image of the run given by --against over those of the run, rounded down.",
    "ASR": "ASRj: images (%) that ended in stage j, certified or given up; --json tells these apart.",
}


def cost_columns(summaries: Sequence[Summary], reference: Summary | None = None) -> dict[str, list[str]]:
    """Return cells by heading, one per summary; what no summary has is left out.

    Args:
        summaries: the rows.
        reference: a run of CERTIFY to compare time with.
    """
    columns: dict[str, list[str]] = {}
    if any(summary.samples is not None for summary in summaries):
        columns["votes"] = [_votes(summary) for summary in summaries]
    if any(summary.evaluations_per_vote not in (None, 1.0) for summary in summaries):
        columns["passes"] = [_rounded(summary.evaluations_per_vote) for summary in summaries]
    saved = [_sample_factor(summary) for summary in summaries]
    if any(factor is not None for factor in saved):
        columns["SampleRF"] = [_factor(factor) for factor in saved]
    if reference is not None:
        columns["TimeRF"] = [_factor(time_factor(summary, reference)) for summary in summaries]
    for stage in range(1, 1 + max((_stages(summary) for summary in summaries), default=0)):
        columns[f"ASR{stage}"] = [_returned(summary, stage) for summary in summaries]
    return columns


def cost_lines(headings: Sequence[str]) -> list[str]:
    """Return what the headings mean."""
    return [
        line for name, line in COST_LINES.items() if any(heading.startswith(name) for heading in headings)
    ]


def time_factor(summary: Summary, reference: Summary) -> float | None:
    """Return TimeRF, worker seconds per image of the reference over those of a run; None for a log, or without time."""
    if not summary.manifest or not summary.seconds or not reference.images:
        return None
    answered = [one.images - len(one.failures) for one in (reference, summary)]  # a failed image took no time
    return reference.seconds / answered[0] / (summary.seconds / answered[1])


def time_reference(folder: Path) -> Summary:
    """Read the run of CERTIFY to compare time with; refuse another procedure, and a run that is not finished.

    Args:
        folder: of the run.
    """
    summary = Summary.of_run(Run.open(folder), str(folder))
    name = summary.manifest["procedure"]["name"]
    if name not in PROCEDURES or PROCEDURES[name].stops_early:
        raise InvalidArgumentError(
            f"--against must be a run of CERTIFY (procedure fixed), got {folder}, whose procedure is {name}"
        )
    if not summary.seconds or summary.missing or summary.failures:
        raise InvalidArgumentError(
            f"--against: {folder} is not finished, or its time is not known; finish it with --resume, or give another"
        )
    return summary


def _sample_factor(summary: Summary) -> float | None:
    factor: float | None = summary.cost.get("sample_reduction")
    return factor


def _factor(value: float | None) -> str:
    return "" if value is None else floor_digits(value, 2)


def _votes(summary: Summary) -> str:
    return "" if summary.votes_per_image is None else f"{summary.votes_per_image:.0f}"


def _rounded(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _stages(summary: Summary) -> int:
    return len(summary.manifest.get("procedure", {}).get("stages", ()))


def _returned(summary: Summary, stage: int) -> str:
    """Return ASR of a stage; 0.0 where the run had that stage and no image ended in it."""
    if stage > _stages(summary) or not summary.images:
        return ""
    shares = summary.cost.get("returned_by_phase", {}).get(f"stage-{stage}", {})
    return f"{100 * sum(shares.values()):.1f}"
