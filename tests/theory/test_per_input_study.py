"""Per-input EsbRS over a data set: figures from the definition, and marked as no certificate everywhere."""

import json

import numpy as np
import pytest
from scipy.stats import beta, norm

import smoothcert as sc
from small_networks import save_network
from smoothcert.ensembles import PerInputClaim
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.tables.per_input_table import per_input_to_json, print_per_input
from smoothcert.theory import NO_CERTIFICATE, PerInputStudy, study_per_input

SIGMA = 0.25


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    place = tmp_path_factory.mktemp("members")
    return [save_network(place / f"member-{seed}", seed) for seed in range(2)]


@pytest.fixture(scope="module")
def study(folders):
    return study_per_input(folders, sc.load_dataset("digits"), indices=range(3, 43, 2), n=300, seed=1)


def of(*triples):
    """A study of (label, claimed class, claimed radius)."""
    about = {
        "dataset": {"name": "digits", "split": "test", "digest": "d"},
        "n": 10,
        "alpha": 0.001,
        "seed": "1",
        "weights_chosen_for": "the true label",
    }
    claims = tuple(PerInputClaim(predicted, radius, (0.3, 0.7)) for _, predicted, radius in triples)
    return PerInputStudy(about, tuple(range(len(triples))), tuple(label for label, _, _ in triples), claims)


def test_figures_are_those_of_the_papers_tables():
    """Right, right at a smaller radius, wrong, without a class: ACR counts the last two as 0."""
    found = of((1, 1, 0.6), (2, 2, 0.2), (3, 4, 0.9), (0, None, 0.0))
    assert found.claimed_acr == pytest.approx((0.6 + 0.2) / 4)
    assert found.claimed_accuracy([0, 0.2, 0.25, 0.6, 0.61]).tolist() == [0.5, 0.5, 0.25, 0.25, 0]
    assert list(per_input_to_json(found)["claimed_accuracy"]) == ["0.00", "0.25", "0.50"]


def test_a_claim_is_what_the_votes_of_the_mixture_would_prove(folders, study):
    """Radii belong to whole counts of votes, through Clopper-Pearson and the normal law."""
    counts = np.arange(151, 301)
    bounds = beta.ppf(0.001, counts, 300 - counts + 1)
    radii = SIGMA * norm.ppf(bounds[bounds > 0.5])
    claimed = [claim.claimed_radius for claim in study.claims if claim.predicted is not None]
    assert len(claimed) > 5
    for radius in claimed:
        assert np.abs(radii - radius).min() < 1e-6
    for claim in study.claims:
        assert sum(claim.weights) == pytest.approx(1)


def test_a_study_repeats_and_follows_labels_if_asked(folders, study):
    digits = sc.load_dataset("digits")
    told = []
    again = study_per_input(
        folders, digits, indices=range(3, 43, 2), n=300, seed=1, on_progress=lambda *done: told.append(done)
    )
    assert again.claims == study.claims
    assert told[-1] == (20, 20)
    labelled = study_per_input(folders, digits, indices=range(3, 43, 2), n=300, seed=1, by_label=True)
    assert labelled.about["weights_chosen_for"] == "the true label"
    assert [claim.weights for claim in labelled.claims] != [claim.weights for claim in study.claims]


def test_it_is_marked_wherever_it_appears(study, capsys):
    assert not PerInputStudy.is_certificate
    assert "Not certificates" in PerInputStudy.__doc__
    figures = json.loads(json.dumps(per_input_to_json(study)))
    assert figures["certificate"] is False
    assert figures["warning"] == NO_CERTIFICATE
    names = {*figures, *figures["claims"][0]}
    assert not names & {"acr", "certified_accuracy", "radius", "predict", "predicted", "correct", "images"}
    print_per_input(study)
    text = capsys.readouterr().out
    assert text.lstrip().startswith("NO CERTIFICATE")
    assert NO_CERTIFICATE in " ".join(text.split())
    assert "certified" not in text
    assert "smoothcert ensemble --fit esbrs" in text


def test_mistakes_are_refused(folders):
    digits = sc.load_dataset("digits")
    for words, paths, options in (
        ("at least two members, got 1", folders[:1], {}),
        ("n must be an integer number of votes", folders, {"n": 0}),
        ("n must be at most", folders, {"n": 10**30}),
        ("alpha is an error probability", folders, {"alpha": 2.0}),
        ("indices must be different numbers", folders, {"indices": [1, 1]}),
        ("at least one folder", [], {}),
    ):
        with pytest.raises(InvalidArgumentError, match=words):
            study_per_input(paths, digits, **{"indices": [0], "n": 10, **options})
