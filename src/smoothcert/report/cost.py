"""What early stopping saved, in the figures of the variance-reduced-ensembles paper."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from smoothcert.certificates import PROCEDURES, Outcome
from smoothcert.store import Run

REFERENCE_N0, REFERENCE_N = 100, 100_000


def sample_reduction(run: Run, n0: int = REFERENCE_N0, n: int = REFERENCE_N) -> float:
    """Return SampleRF: votes of CERTIFY over votes of this run per image, class choice counted on both sides.

    Args:
        run: any run; its votes count those that chose the class.
        n0: CERTIFY's votes that choose the class.
        n: CERTIFY's votes that bound it.
    """
    return (n0 + n) / mean_answered(run.columns["samples"])


def mean_answered(samples: ArrayLike) -> float:
    """Return the mean votes of the images that have some: one on which the model failed saved nothing.

    Args:
        samples: votes by image, at least one of them above 0.
    """
    votes = np.asarray(samples)
    return float(votes[votes > 0].mean())


def time_reduction(run: Run, reference: Run) -> float:
    """Return TimeRF: worker seconds per image of a reference run over those of this run.

    The reference is a run of CERTIFY on the full ensemble, on the same machine.
    """
    means = [np.mean(np.asarray(one.columns["seconds"])[one.answered]) for one in (reference, run)]
    return float(means[0] / means[1])


def returned_by_phase(run: Run) -> dict[str, dict[str, float]]:
    """Return, by the phase in which images ended, the shares certified and abandoned.

    For a staged run these are ASC_j and ASA_j, whose sum is ASR_j, the share returned in stage j.
    """
    ended = Counter(
        (phase, outcome == Outcome.CERTIFIED.name)
        for phase, outcome in zip(run.final_phases, run.columns["outcome"], strict=True)
    )
    phases, images = sorted({phase for phase, _ in ended}), ended.total()
    return {
        phase: {
            "certified": ended[phase, True] / images,
            "abandoned": ended[phase, False] / images,
        }
        for phase in phases
    }


def consensus_rate(run: Run) -> float | None:
    """Return KCR, the share of votes in which the first K members agreed; None if the run is about no consensus.

    Exact, from the evaluations counted: a vote costs the first members, and without consensus all of them.
    """
    ensemble = run.manifest.get("ensemble", {})
    first = ensemble.get("first_evaluations")
    votes, evaluations = (sum(int(n) for n in run.columns[name]) for name in ("samples", "evaluations"))
    if first is None or not votes:
        return None
    spared = int(ensemble["evaluations_per_vote"]) - int(first)
    if not spared:  # K = k: nobody is left to be spared
        return None
    return (int(ensemble["evaluations_per_vote"]) * votes - evaluations) / (spared * votes)


def cost_figures(run: Run) -> dict[str, Any]:
    """Return the figures of cost that one run gives by itself, for `--json`."""
    if not run.answered.any():
        return {"sample_reduction": None, "returned_by_phase": {}, "consensus_rate": None}
    return {
        "sample_reduction": sample_reduction(run) if _saves(run) else None,
        "returned_by_phase": returned_by_phase(run),
        "consensus_rate": consensus_rate(run),
    }


def _saves(run: Run) -> bool:
    """Return whether fewer votes are saved: not by CERTIFY itself, nor by a run that cannot prove what it asks."""
    name = run.manifest["procedure"]["name"]
    return (name not in PROCEDURES or PROCEDURES[name].stops_early) and run.reach.proves_all
