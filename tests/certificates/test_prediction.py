"""PREDICT concludes a class or none, by its own kind of result, and never a certificate."""

import numpy as np
import pytest
import torch
from scipy.stats import binomtest

import smoothcert as sc
from smoothcert.certificates.prediction import Prediction, PredictionPlan
from smoothcert.ensembles import Panel, VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling import Counts


@pytest.mark.parametrize("top", range(500, 701, 10))
@pytest.mark.parametrize("unanswered", [0, 40, 250])
def test_a_class_is_named_where_the_two_sided_test_says_so(top, unanswered):
    rest = 1_000 - top - unanswered
    votes = np.array([rest - rest // 3, top, rest // 3])
    decision = PredictionPlan(1_000, 0.001).start()
    assert decision.absorb(0, Counts(votes, 1_000))
    second = max(votes[0], votes[2], unanswered)
    wanted = 1 if binomtest(top, top + int(second), 0.5).pvalue <= 0.001 else None
    assert decision.verdict() == Prediction(wanted, Counts(votes, 1_000))


def test_it_draws_one_stream_of_its_own_and_looks_once():
    (phase,) = PredictionPlan(1_000, 0.001).phases
    assert (phase.name, tuple(phase.looks)) == ("predict", (1_000,))


def test_a_panel_is_neither_predicted_nor_certified_as_one():
    members = [torch.nn.Linear(2, 3).eval() for _ in range(2)]
    classifier = sc.SmoothedClassifier(Panel(VotingEnsemble(members)), sc.Gaussian(0.5), 3)
    image = torch.tensor([0.2, 0.4])
    for ask in (classifier.predict, classifier.certify):
        with pytest.raises(InvalidArgumentError, match="answers for 3 classifiers; use certify_panel"):
            ask(image, seed=1)
