"""Upper envelope, average and consensus rate against counts written out by hand."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.report import Summary, consensus_rate, member_curves, members_to_json, print_summaries
from smoothcert.report.members import MembersCurve, curves_of
from smoothcert.workflows import certify_panel
from truth import CENTRE, HalfSpace

MARGINS = (0.1, 0.3, 0.5)


@pytest.fixture(scope="module")
def runs():
    """Three members, their consensus of two and their soft vote, on images at different distances."""
    members = [HalfSpace(margin) for margin in MARGINS]
    voting = sc.VotingEnsemble(members)
    panel = sc.Panel([voting, sc.ConsensusEnsemble(voting, 2)], ["a", "b", "c", "soft", "consensus"]).eval()
    points = (CENTRE + np.linspace(-0.2, 0.2, 12)[:, None]).astype(np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(12, dtype=np.int64))
    classifier = sc.SmoothedClassifier(panel, sc.Gaussian(0.25), 2)
    outs = dict.fromkeys(panel.names)
    return certify_panel(classifier, dataset, outs=outs, procedure=sc.FixedSample(n=500), seed=1, workers=1)


def test_envelope_and_average_of_the_members_that_an_ensemble_names(runs):
    summaries = [Summary.of_run(run) for run in runs.values()]
    envelope, average = member_curves(summaries)  # once, though two ensembles name the same members
    assert [envelope.name, average.name] == ["envelope of 3", "average of 3"]
    radii = np.array([0.0, 0.1, 0.25, 0.4])
    each = [
        [np.mean([c and r >= radius for c, r in zip(s.results.correct, s.results.radius, strict=True)])
         for radius in radii]
        for s in summaries[:3]
    ]  # fmt: skip
    assert envelope.certified_accuracy(radii).tolist() == np.max(each, axis=0).tolist()
    assert average.certified_accuracy(radii) == pytest.approx(np.mean(each, axis=0))
    assert average.average_radius() == pytest.approx(
        np.mean([s.results.average_radius() for s in summaries[:3]])
    )
    best = max(s.results.average_radius() for s in summaries[:3])
    assert envelope.average_radius() >= best - 1e-12
    assert MembersCurve(
        "one", (summaries[0],), summaries[3], lambda shares: shares[0]
    ).average_radius() == pytest.approx(summaries[0].results.average_radius())


def test_no_curve_without_all_members_under_the_same_settings(runs):
    summaries = [Summary.of_run(run) for run in runs.values()]
    assert list(member_curves(summaries[1:])) == []
    assert list(member_curves(summaries[:3])) == []
    log = Summary("log.tsv", summaries[0].results, 0.0)  # a log has no manifest
    assert list(member_curves([*summaries[:2], log])) == []
    assert members_to_json(log, [log, *summaries]) is None
    assert members_to_json(summaries[0], summaries) is None
    told = members_to_json(summaries[3], summaries)
    envelope, average = curves_of(summaries[3], summaries[:3])
    assert told["upper_envelope"]["acr"] == envelope.average_radius()
    assert told["average"]["certified_accuracy"]["0.25"] == average.certified_accuracy([0.25])[0]


def test_the_table_shows_envelope_average_and_consensus_rate(runs, capsys):
    print_summaries([Summary.of_run(run) for run in runs.values()])
    table = " ".join(capsys.readouterr().out.split())
    assert "envelope of 3" in table
    assert "average of 3" in table
    assert "abst. votes passes" in table
    assert "600 3.00" in table  # the soft vote
    assert (
        f"in {consensus_rate(runs['consensus']):.1%} of the votes (KCR) the first 2 members agreed" in table
    )


def test_consensus_rate_is_the_share_of_votes_in_which_the_first_agree(runs):
    run = runs["consensus"]
    assert consensus_rate(runs["soft"]) is None
    assert consensus_rate(runs["a"]) is None
    evaluations, votes = sum(run.column("evaluations")), sum(run.column("samples"))
    agreed = votes - (evaluations - 2 * votes)  # a vote without consensus costs one more member
    assert consensus_rate(run) == agreed / votes
    # Closed form: the first two disagree between their boundaries.
    normal = torch.distributions.Normal(0, 0.25)
    places = torch.linspace(-0.2, 0.2, 12)
    apart = (normal.cdf(places + 0.3) - normal.cdf(places + 0.1)).mean().item()
    assert consensus_rate(run) == pytest.approx(1 - apart, abs=0.02)
