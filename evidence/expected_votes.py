"""Exact expected votes and exact false certificates of every procedure with a target."""

from __future__ import annotations

import numpy as np
from evidence.record import record
from scipy.stats import norm

import smoothcert as sc
from smoothcert.bounds import (
    Boundary,
    final_votes,
    geometric_looks,
    group_sequential_table,
    operate,
    sequential_boundary,
)

Looks = tuple[int, ...]
ALPHA = BETA = 0.001
CAP, N = 120_000, 100_000
CASES = {1: (0.55, 0.70, 0.80, 0.86, 0.90, 0.95, 0.99, 0.9999), 3: (0.95, 0.99, 0.9999)}
NULLS = (0.5, 0.69, 0.84, 0.977, 0.99865)


def make() -> None:
    """Compute by dynamic programming over counts; nothing is sampled."""
    every_vote, chunks = tuple(range(1, CAP + 1)), (*range(64, CAP, 64), CAP)
    spending, on_chunks = geometric_looks(final_votes(N, ALPHA)), geometric_looks(final_votes(N, ALPHA), 64)
    votes = []
    print("radius    p      sequential: every vote / run | group: method's looks / run | staged (run)")
    for radius, shares in CASES.items():
        p0 = float(norm.cdf(radius))
        boundaries = _boundaries(p0, radius, every_vote, chunks, spending, on_chunks)
        for p in shares:
            row = {name: round(operate(b, p).expected_votes, 1) for name, b in boundaries.items()}
            votes.append({"radius_in_sigma": radius, "p": p, **row})
            a, b, c, d, e = row.values()
            print(f"{radius}     {p:<7} {a:9.1f} /{b:9.1f}        | {c:9.1f} /{d:9.1f}         | {e:9.1f}")
    false = [_false_certificates(p0, every_vote, chunks, spending, on_chunks) for p0 in NULLS]
    record(
        "expected_votes",
        about="Votes per image (n0 not counted) at true probability p, and the chance of a false certificate at "
        f"p0, for alpha = beta = {ALPHA}; *_run is the schedule that the package runs, with looks on chunk borders.",
        seed=None,
        interval="exact (dynamic programming over counts)",
        figures={"expected_votes": votes, "false_certificates_at_p0": false},
    )


def _boundaries(
    p0: float, radius: float, every_vote: Looks, chunks: Looks, spending: Looks, on_chunks: Looks
) -> dict[str, Boundary]:
    """The boundaries to compare for one threshold; `radius` is the same in sigmas."""
    return {
        "sequential_every_vote": sequential_boundary(every_vote, p0, ALPHA, BETA),
        "sequential_run": sequential_boundary(chunks, p0, ALPHA, BETA),
        "group_method": group_sequential_table(spending, p0, ALPHA, BETA).boundary,
        "group_run": group_sequential_table(on_chunks, p0, ALPHA, BETA).boundary,
        "staged_run": _target(sc.Staged(radius=radius)),
    }


def _target(procedure: sc.Staged) -> Boundary:
    return procedure.plan(sc.Gaussian(1.0), ALPHA).boundaries[0]  # type: ignore[attr-defined]


def _false_certificates(p0: float, *looks: Looks) -> dict[str, float]:
    radius = max(float(norm.ppf(p0)), 0.0)
    found = _boundaries(p0, radius, *looks)
    # Nobody is counted on to give up: the chance must hold for one who always goes on.
    never = {
        name: Boundary(b.looks, b.certify, np.full_like(b.abandon, -1), b.fresh) for name, b in found.items()
    }
    return {"p0": p0, **{name: operate(b, p0).certified for name, b in never.items()}}
