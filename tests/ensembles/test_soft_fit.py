"""Fitted weighted soft voting: the smallest cross entropy of softmax(sum of weights times logits), of any sign."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize

import smoothcert as sc
from smoothcert.ensembles.weights.soft_fit import fit_soft
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import load_model, make_ensemble


def made_up(seed, rows=400, members=3, classes=5):
    """Members that are right more often than not; the last one speaks against the truth."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    truth = np.eye(classes)[labels]
    skill = np.linspace(2.0, -1.0, members)
    logits = rng.normal(size=(rows, members, classes)) + skill[None, :, None] * truth[:, None, :]
    return torch.tensor(logits), torch.tensor(labels)


def loss(logits, labels, weights):
    """The definition, written out in torch."""
    together = (logits * torch.as_tensor(weights, dtype=torch.float64).reshape(1, -1, 1)).sum(dim=1)
    return float(torch.nn.functional.cross_entropy(together, labels))


@pytest.mark.parametrize("seed", range(5))
def test_no_other_weights_have_a_smaller_loss(seed):
    logits, labels = made_up(seed)
    fit = fit_soft(logits, labels)
    assert fit.loss == pytest.approx(loss(logits, labels, fit.weights), abs=1e-12)
    reference = minimize(lambda w: loss(logits, labels, w), np.full(3, 1 / 3), method="BFGS", tol=1e-10)
    assert fit.loss <= reference.fun + 1e-9
    assert fit.slope < 1e-8
    np.testing.assert_allclose(fit.weights, reference.x, atol=1e-4)
    assert fit.weights[-1] < 0  # who speaks against the truth is listened to the other way round
    assert fit.loss <= min(fit.uniform_loss, fit.best_member_loss)
    assert fit.uniform_loss == pytest.approx(loss(logits, labels, [1 / 3] * 3))
    assert fit.best_member_loss == pytest.approx(min(loss(logits, labels, row) for row in np.eye(3)))


def test_members_that_always_agree_and_images_that_are_all_right():
    logits, labels = made_up(0)
    twice = fit_soft(torch.stack([logits[:, 0], logits[:, 0]], dim=1), labels)
    assert twice.weights[0] == pytest.approx(twice.weights[1])
    right = torch.nn.functional.one_hot(labels, 5).double().unsqueeze(1)
    assert np.isfinite(fit_soft(right, labels).weights).all()


@pytest.mark.parametrize("wrong", [torch.zeros(3, 2), torch.full((4, 2, 3), torch.nan)])
def test_what_is_no_table_of_logits_is_refused(wrong):
    with pytest.raises(InvalidArgumentError, match="logits must be"):
        fit_soft(wrong, torch.zeros(4, dtype=torch.int64))


def test_negative_weights_vote_as_the_formula_says():
    logits, _ = made_up(1)

    class Member(torch.nn.Module):
        def __init__(self, number):
            super().__init__()
            self.number = number

        def forward(self, batch):
            return logits[: len(batch), self.number].float()

    weights = [1.5, 0.25, -0.75]
    ensemble = sc.VotingEnsemble([Member(number) for number in range(3)], "soft", weights).eval()
    together = (logits * torch.tensor(weights).reshape(1, -1, 1)).sum(dim=1)
    assert torch.equal(ensemble(torch.zeros(100, 1)).argmax(1), together[:100].argmax(1))
    for rule in ("softmax", "hard"):
        with pytest.raises(InvalidArgumentError, match="rule soft takes negative ones"):
            sc.VotingEnsemble([Member(0), Member(1)], rule, [1.0, -1.0])
    for wrong in ([0.0, 0.0], [1.0, float("nan")], [float("inf"), 1.0]):
        with pytest.raises(InvalidArgumentError, match="weights must be finite"):
            sc.VotingEnsemble([Member(0), Member(1)], "soft", wrong)


def test_a_folder_keeps_the_weights_as_fitted_and_can_be_certified(tmp_path):
    folders = []
    for seed in range(3):
        folders.append(tmp_path / str(seed))
        sc.train({"epochs": 1, "seed": seed, "batch_size": 256}, folders[-1])
    holdout = sc.load_dataset("digits", "holdout")
    card = make_ensemble(folders, tmp_path / "e", fit="soft", dataset=holdout, images=200, draws=2, seed=1)
    assert card.rule == "soft"
    assert card.fitted[0].purpose == "soft"
    assert sum(map(abs, card.weights)) != pytest.approx(1.0)  # their size is the softmax's temperature
    model, again = load_model(tmp_path / "e")
    assert again.weights == card.weights
    shares = np.array(card.weights) / np.abs(card.weights).sum()
    np.testing.assert_allclose(model.weights.numpy(), shares, rtol=1e-6)
    classifier = sc.load_classifier(tmp_path / "e")
    run = sc.certify(
        classifier, sc.load_dataset("digits"), procedure=sc.FixedSample(n=200), indices=range(4), seed=1
    )
    assert len(run) == 4
    with pytest.raises(InvalidArgumentError, match="weights of logits, for rule 'soft', got rule 'softmax'"):
        make_ensemble(folders, tmp_path / "f", fit="soft", rule="softmax", dataset=holdout)
