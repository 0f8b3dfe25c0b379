"""Figures of papers' tables other than radius and accuracy: how each is read off the own runs and models."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smoothcert.report.cost import REFERENCE_N, REFERENCE_N0
from smoothcert.report.summary import Summary


@dataclass(frozen=True)
class Evidence:
    """What the own figures of a row are read from.

    Args:
        run: the row's certificates.
        reference: those of CERTIFY that time is compared with; None for none.
        multiply_adds: of one image's pass through all members; None where it cannot be counted.
        training_seconds: of all members, summed; None where a model does not tell.
        epochs: of each of them; None likewise.
    """

    run: Summary
    reference: Summary | None = None
    multiply_adds: int | None = None
    training_seconds: float | None = None
    epochs: int | None = None


@dataclass(frozen=True)
class Figure:
    """One column of a paper's table.

    Args:
        heading: as papers print it.
        says: what it is, and how the own one differs.
        of: reads it off; None where there is none.
        digits: decimals that are printed.
        is_timed: whether it needs a run that shared no forward pass with others.
    """

    heading: str
    says: str
    of: Callable[[Evidence], float | None]
    digits: int = 2
    is_timed: bool = False


def _returned(stage: int) -> Figure:
    def of(evidence: Evidence) -> float | None:
        ended = evidence.run.cost.get("returned_by_phase", {}).get(f"stage-{stage}", {})
        return 100.0 * float(sum(ended.values()))

    return Figure(f"ASR{stage} %", f"ASR{stage}: images returned in stage {stage}.", of, 1)


def _consensus(evidence: Evidence) -> float | None:
    rate = evidence.run.cost.get("consensus_rate")
    return None if rate is None else 100 * rate


def _seconds(run: Summary) -> float:
    return run.seconds / max(run.images - len(run.failures), 1)


def _time_reduction(evidence: Evidence) -> float | None:
    votes = None if evidence.reference is None else evidence.reference.votes_per_image
    own = _seconds(evidence.run)
    if evidence.reference is None or votes is None or not own:
        return None
    return _seconds(evidence.reference) / votes * (REFERENCE_N0 + REFERENCE_N) / own


def _evaluations(evidence: Evidence) -> float | None:
    return None if evidence.run.evaluations is None else float(evidence.run.evaluations.mean())


def _hours(evidence: Evidence) -> float | None:
    return None if evidence.training_seconds is None else evidence.training_seconds / 3600


def _epoch(evidence: Evidence) -> float | None:
    if evidence.training_seconds is None or not evidence.epochs:
        return None
    return evidence.training_seconds / evidence.epochs


def _operations(evidence: Evidence) -> float | None:
    return None if evidence.multiply_adds is None else evidence.multiply_adds / 1e9


FIGURES: dict[str, Figure] = {
    "sample_reduction": Figure(
        "SampleRF",
        f"SampleRF: {REFERENCE_N0 + REFERENCE_N:,} votes over the votes per image.",
        lambda evidence: evidence.run.cost.get("sample_reduction"),
    ),
    "time_reduction": Figure(
        "TimeRF",
        "TimeRF: seconds of CERTIFY with 100 + 100,000 votes on the whole ensemble over those of the row, reckoned "
        "from its seconds per vote where it had fewer, each as measured when it was certified.",
        _time_reduction,
        is_timed=True,
    ),
    "consensus_rate": Figure(
        "KCR %", "KCR: votes (in the paper inputs) for which the first K sufficed.", _consensus, 1
    ),
    **{f"returned_{stage}": _returned(stage) for stage in (1, 2, 3, 4)},
    "evaluations": Figure("evals/image", "evals/image: forward passes per image.", _evaluations, 0),
    "gflops": Figure("GFLOPs", "GFLOPs: 10^9 multiply-adds of a pass.", _operations, 3),
    "epoch_seconds": Figure(
        "s/epoch", "s/epoch: training, of all members, on the machine that trained.", _epoch, 1
    ),
    "training_hours": Figure(
        "train h", "train h: training, of all members, on the machine that trained.", _hours, 2
    ),
    "seconds_per_image": Figure(
        "cert. s/image",
        "cert. s/image: worker seconds per certified image, on the machine that certified and with the own votes.",
        lambda evidence: _seconds(evidence.run),
        3,
        is_timed=True,
    ),
}
"""By the names that table files use."""
