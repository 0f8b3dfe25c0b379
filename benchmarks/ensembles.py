"""Part "ensembles": five members against five bare networks, and K-consensus against the evaluations it counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import torch
from scipy.special import ndtri

import smoothcert as sc
from benchmarks.bare_forward import BareForward
from benchmarks.measure import Draw, Measurement, alternate, of_rival, spread, timed, whole_batches
from benchmarks.networks import NETWORKS, Planted
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, SIGMA, Settings

MEMBERS, FIRST = 5, 2
DISAGREE = 0.15  # of the votes, as published for K = 2 (KCR 85.8% and 87.7%)
MOST_OVERHEAD, TOLERANCE = 1.05, 0.15
BARE, WHOLE, CONSENSUS = "one bare member", "ensemble of five", "consensus of two"


def run(settings: Settings) -> Part:
    """Measure every network in turns."""
    rows, networks = [], {}
    for name in settings.ensembles_networks:
        print(f"ensembles: {name}", flush=True)
        measurements, networks[name] = measure_network(name, settings)
        rows += [m.row() for m in measurements]
    return Part(rows, {"networks": networks})


def members(name: str) -> tuple[list[Planted], torch.Tensor]:
    """Return five networks and an image about which the first two disagree as often as planned."""
    shape, make = NETWORKS[name]
    apart = SIGMA * float(ndtri(0.5 + DISAGREE))
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return [Planted(make(), shift=apart * (member == 1)).eval() for member in range(MEMBERS)], torch.full(
            shape, 0.5
        )


def measure_network(name: str, settings: Settings) -> tuple[list[Measurement], dict[str, Any]]:
    """Let one bare member, the ensemble and the consensus take turns."""
    several, image = members(name)
    ensemble = sc.VotingEnsemble(several)
    how: dict[str, Any] = {"engine": settings.engine, "workers": settings.workers}
    alone = Ours(several[0], image, **how)
    bare = BareForward(alone.engine, image, workers=settings.workers, batch=alone.batch)
    whole, consensus = (
        Ours(model.eval(), image, **how) for model in (ensemble, sc.ConsensusEnsemble(ensemble, FIRST))
    )
    together = settings.workers * consensus.batch
    drawn, seconds = timed(lambda: whole.certify(image, together).votes)
    n = whole_batches(settings.ensembles_seconds * drawn / seconds, together)
    rivals: dict[str, Draw] = {
        BARE: lambda: bare(N0 + n),
        WHOLE: lambda: whole.certify(image, n).votes,
        CONSENSUS: lambda: consensus.certify(image, n).votes,
    }
    found = alternate("ensembles", name, rivals, settings.ensembles_repetitions)
    certificate = consensus.classifier.certify(
        image, sc.FixedSample(n0=N0, n=n), seed=1, engine=consensus.engine.engine_name
    )
    evaluations = certificate.evaluations / certificate.samples
    by_clock = _ratios(found, CONSENSUS, WHOLE)
    return found, {
        "engine": whole.engine.engine_name,
        "votes": n + N0,
        "evaluations_per_vote": evaluations,
        "overhead": asdict(spread([ratio / MEMBERS for ratio in _ratios(found, WHOLE, BARE)])),
        "time_of_whole": asdict(spread(by_clock)),
        "against_evaluations": asdict(spread([ratio / (evaluations / MEMBERS) for ratio in by_clock])),
    }


def _ratios(found: Sequence[Measurement], slower: str, faster: str) -> list[float]:
    pairs = zip(of_rival(found, slower), of_rival(found, faster), strict=True)
    return [a.seconds_per_vote / b.seconds_per_vote for a, b in pairs]


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = []
    for name, found in summary["networks"].items():
        follows = found["against_evaluations"]
        rows.append(
            [
                name,
                shown(found["overhead"], 3),
                verdict(found["overhead"]["median"], most=MOST_OVERHEAD),
                f"{found['evaluations_per_vote']:.3f} of {MEMBERS}",
                shown(found["time_of_whole"], 3),
                shown(follows, 3),
                verdict(abs(follows["median"] - 1), most=TOLERANCE),
            ]
        )
    head = ["network", "five members over five bare", "goal", "consensus: evaluations per vote"]
    head += ["its time over that of all five", "that over its evaluations", "goal for the distance from 1"]
    return f"### Ensembles\n\n{table(head, rows)}"
