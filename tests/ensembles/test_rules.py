"""Every voting rule against its definition in NumPy, and on classifiers whose smoothed truth is known."""

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, logsumexp
from scipy.special import softmax as soft_max
from torch import nn

import smoothcert as sc
from smoothcert.engines.runtimes.onnx import OnnxEngine
from smoothcert.ensembles import VOTING_RULES, AdaptiveEnsemble, ConsensusEnsemble, VotingEnsemble
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from truth import CENTRE, HalfSpace

ROWS, CLASSES = 300, 4


def soft_reference(logits, weights):
    return np.tensordot(weights, logits, axes=(0, 0))


def softmax_reference(logits, weights):
    used = weights > 0
    return logsumexp(log_softmax(logits[used], axis=1), axis=0, b=weights[used, None])


def hard_reference(logits, weights):
    votes = np.zeros(logits.shape[1])
    for member, weight in zip(logits, weights, strict=True):
        votes[member.argmax()] += weight
    leading = votes > votes.max() - 1e-6
    return np.where(leading, soft_reference(logits, weights), -np.inf)


def max_margin_reference(logits, weights):
    top = np.sort(soft_max(logits, axis=1), axis=1)
    return logits[(top[:, -1] - top[:, -2]).argmax()]


REFERENCES = {
    "soft": soft_reference,
    "softmax": softmax_reference,
    "hard": hard_reference,
    "max-margin": max_margin_reference,
}


def member_logits(members, scale=2.0, seed=1):
    return scale * torch.randn(ROWS, members, CLASSES, generator=torch.Generator().manual_seed(seed))


def voting(rule, members, weights=None):
    return VotingEnsemble([nn.Identity().eval() for _ in range(members)], rule, weights)


def test_every_rule_has_a_reference():
    assert set(VOTING_RULES) == set(REFERENCES)


@pytest.mark.parametrize("weights", [[1, 1, 1, 1], [1, 2, 3, 0], [0.5, 0.1, 0.1, 0.3]])
@pytest.mark.parametrize("rule", list(VOTING_RULES))
def test_every_rule_is_its_definition(rule, weights):
    if rule == "max-margin":
        weights = [1, 1, 1, 1]
    logits = member_logits(4)
    found = voting(rule, 4, weights).combine(logits).numpy()
    shares = np.array(weights) / sum(weights)
    expected = np.stack([REFERENCES[rule](row, shares) for row in logits.double().numpy()])
    assert (found.argmax(axis=1) == expected.argmax(axis=1)).all()
    known = np.isfinite(expected)
    np.testing.assert_allclose(found[known], expected[known], rtol=1e-5, atol=1e-5)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("shift", [0.0, 1e6, 1e8, -1e8])
def test_the_majority_wins_however_large_the_logits_are(shift):
    logits = torch.tensor([[[0.0, 8.0], [0.0, 8.0], [1e3, 0.0]]]) + shift
    assert VOTING_RULES["hard"].combine(logits, torch.full((3,), 1 / 3)).argmax(dim=1).tolist() == [1]


def test_tied_votes_go_to_the_larger_sum_of_logits():
    one, two = [3.0, 0.0, 2.9], [0.0, 1.0, 0.9]
    logits = torch.tensor([[one, two]])
    assert voting("hard", 2).combine(logits).argmax() == 0  # class 2 has the largest sum, but no vote
    assert voting("hard", 2, [1, 1.1]).combine(logits).argmax() == 1
    logits = torch.tensor([[[1.0, 0.0], [1.0, 0.0], [0.0, 9.0]]])
    assert voting("hard", 3, [1, 2, 3]).combine(logits).argmax() == 1  # 1/6 + 2/6 against 3/6
    assert voting("hard", 3, [1, 2.1, 3]).combine(logits).argmax() == 0
    same = torch.tensor([[[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
    assert voting("hard", 2).combine(same).argmax() == 1  # nothing left to tell them apart: the lowest index


def test_equal_margins_go_to_the_first_member():
    logits = torch.tensor([[[0.0, 2.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 1.0]]])
    assert torch.equal(voting("max-margin", 3).combine(logits)[0], logits[0, 0])


def test_confident_members_are_still_told_apart():
    logits = torch.tensor([[[25.0, 0.0], [0.0, 30.0]]])
    assert voting("max-margin", 2).combine(logits).argmax() == 1
    far = voting("softmax", 2).combine(torch.tensor([[[0.0, -300.0], [0.0, -400.0]]]))
    np.testing.assert_allclose(far.numpy(), [[0.0, -300.0 - np.log(2)]], rtol=1e-6)


@pytest.mark.parametrize("rule", list(VOTING_RULES))
@pytest.mark.parametrize("fault", [float("nan"), float("inf"), float("-inf")])
def test_a_fault_of_one_member_is_not_hidden(rule, fault):
    logits = member_logits(3)[:2]
    logits[1, 2, 1] = fault
    found = voting(rule, 3).combine(logits)
    assert found[0].isfinite().all()
    assert not found[1].isfinite().all()
    broken = VotingEnsemble([Constant([0.0, 1.0]), Constant([fault, 5.0])], rule).eval()
    classifier = sc.SmoothedClassifier(broken, sc.Gaussian(0.5), 2)
    with pytest.raises(ModelOutputError, match="NaN or infinite"):
        classifier.certify(torch.zeros(2), sc.FixedSample(n=64), seed=1, workers=1)


class Constant(nn.Module):
    """The same logits for every image."""

    def __init__(self, logits):
        super().__init__()
        self.register_buffer("logits", torch.tensor(logits))

    def forward(self, batch):
        return self.logits + 0 * batch.flatten(1)[:, :1]


@pytest.mark.parametrize("rule", list(VOTING_RULES))
def test_consensus_of_all_members_is_voting(rule):
    ensemble = voting(rule, 4)
    logits = member_logits(4)
    assert torch.equal(ConsensusEnsemble(ensemble, 4).combine(logits), ensemble.combine(logits))


@pytest.mark.parametrize("rule", list(VOTING_RULES))
def test_those_who_agree_answer_what_they_agree_on(rule):
    consensus, logits = ConsensusEnsemble(voting(rule, 4), 2), member_logits(4)
    agreed = consensus.agreed(logits)
    assert 20 < int(agreed.sum()) < ROWS - 20
    assert torch.equal(consensus.combine(logits)[agreed].argmax(1), logits[agreed, 0].argmax(1))


@pytest.mark.parametrize("rule", list(VOTING_RULES))
def test_gradients_are_finite(rule):
    weights = None if rule == "max-margin" else [0, 1, 2]
    logits = member_logits(3).requires_grad_()
    voting(rule, 3, weights).combine(logits).logsumexp(1).sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad.abs().sum() > 0


def test_max_margin_takes_no_weights():
    with pytest.raises(InvalidArgumentError, match=r"'max-margin' takes no weights.*got \[1, 2\]"):
        voting("max-margin", 2, [1, 2])
    voting("max-margin", 2, [3, 3])


# Three half-spaces with one normal: what the ensemble of each rule is, in one dimension, by hand.
# soft: the boundary is the mean of the margins weighted by slope; hard: their median; max-margin and softmax with
# equal slopes: the member farther from its boundary decides, so the middle of the outermost two.
TRUTHS = {
    "soft": ((0.1, 0.2, 0.6), (1.0, 3.0, 1.0), 1.3 / 5),
    "hard": ((0.1, 0.2, 0.6), (1.0, 3.0, 1.0), 0.2),
    "max-margin": ((0.1, 0.2, 0.4), (5.0, 5.0, 5.0), 0.25),
    "softmax": ((0.1, 0.25, 0.4), (5.0, 5.0, 5.0), 0.25),
}


@pytest.mark.parametrize("rule", list(VOTING_RULES))
def test_half_spaces_with_a_common_normal_keep_their_known_truth(rule):
    margins, slopes, truth = TRUTHS[rule]
    members = [HalfSpace(margin, slope) for margin, slope in zip(margins, slopes, strict=True)]
    ensemble = VotingEnsemble(members, rule).eval()
    points = torch.linspace(CENTRE - 1, CENTRE + 1, 4001).unsqueeze(1)
    clear = (points[:, 0] - (CENTRE - truth)).abs() > 1e-4
    answers = ensemble(points).argmax(dim=1)
    assert torch.equal(answers[clear], (points[clear, 0] > CENTRE - truth).long())
    certificate = sc.SmoothedClassifier(ensemble, sc.Gaussian(0.25), 2).certify(
        torch.tensor([CENTRE]), sc.FixedSample(n=20_000), seed=3, workers=1, engine="torch"
    )
    assert certificate.predicted == 1
    assert 0.9 * truth < certificate.radius <= truth


@pytest.mark.parametrize("kind", ["consensus", "adaptive"])
def test_early_exits_keep_a_known_truth_too(kind):
    members = [HalfSpace(0.3, slope) for slope in (0.5, 2.0, 8.0)]
    ensemble = VotingEnsemble(members, "softmax", [3, 2, 1])
    model = ConsensusEnsemble(ensemble, 2) if kind == "consensus" else AdaptiveEnsemble(ensemble, 0.7)
    certificate = sc.SmoothedClassifier(model.eval(), sc.Gaussian(0.25), 2).certify(
        torch.tensor([CENTRE]), sc.FixedSample(n=20_000), seed=3, workers=1, engine="torch"
    )
    assert certificate.predicted == 1
    assert 0.9 * 0.3 < certificate.radius <= 0.3
    assert certificate.evaluations < 3 * certificate.samples


@pytest.mark.parametrize("rule", [rule for rule in VOTING_RULES if rule != "soft"])
def test_rules_export_to_onnx(rule):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        members = [nn.Linear(6, CLASSES).eval().requires_grad_(False) for _ in range(3)]
    ensemble = VotingEnsemble(members, rule, None if rule == "max-margin" else [1, 0, 2]).eval()
    engine = OnnxEngine(ensemble, CLASSES, torch.zeros(6))
    batch = torch.randn(200, 6, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close(engine.forward(batch), ensemble(batch), rtol=1e-4, atol=1e-4)
    assert not engine.forward(torch.full((16, 6), torch.nan)).isfinite().any()
