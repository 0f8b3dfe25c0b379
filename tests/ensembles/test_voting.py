"""Ensembles and panels answer what their members, computed separately, say."""

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.ensembles import VOTING_RULES, Panel, VotingEnsemble
from smoothcert.errors import InvalidArgumentError, ModelOutputError, UnknownNameError
from smoothcert.networks import create_model, weights_digest


def make_members(count):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(11)
        return [create_model("convnet", num_classes=10).eval().requires_grad_(False) for _ in range(count)]


def images(rows):
    return torch.rand(rows, 1, 8, 8, generator=torch.Generator().manual_seed(5))


@pytest.mark.parametrize("weights", [None, [0.5, 0.0, 2.5], [3, 3, 3]])
def test_soft_vote_is_the_weighted_mean_of_logits(weights):
    members = make_members(3)
    ensemble = VotingEnsemble(members, weights=weights)
    separate = np.stack([member(images(33)).numpy() for member in members]).astype(np.float64)
    expected = np.average(separate, axis=0, weights=weights)
    np.testing.assert_allclose(ensemble(images(33)).numpy(), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("rule", list(VOTING_RULES))
@pytest.mark.parametrize("members", [1, 2, 7, 50])
def test_a_combined_row_does_not_depend_on_its_neighbours(rule, members):
    logits = torch.randn(67, members, 10, generator=torch.Generator().manual_seed(members))
    ensemble = VotingEnsemble([nn.Identity() for _ in range(members)], rule)
    whole = ensemble.combine(logits)
    assert whole.shape == (67, 10)
    for row in range(67):
        assert torch.equal(ensemble.combine(logits[row : row + 1])[0], whole[row])


def test_evaluations_are_counted_through_nested_ensembles():
    inner = VotingEnsemble(make_members(3))
    assert inner.evaluations_per_vote == 3
    assert VotingEnsemble([inner, *make_members(1)]).evaluations_per_vote == 4


def test_weights_are_part_of_the_digest():
    members = make_members(2)
    assert weights_digest(VotingEnsemble(members)) != weights_digest(VotingEnsemble(members, weights=[1, 2]))


def test_mode_of_the_members_shows_and_stays():
    members = make_members(2)
    assert not VotingEnsemble(members).training
    members[1].train()
    ensemble = VotingEnsemble(members)
    assert ensemble.training
    assert Panel(ensemble).training
    assert (members[0].training, members[1].training) == (False, True)


@pytest.mark.parametrize(
    "count, weights, message",
    [
        (0, None, "at least one classifier"),
        (2, [1.0], "got 1 for 2 members"),
        (2, [1.0, -0.5], r"got \[1.0, -0.5\]"),
        (2, [0.0, 0.0], "positive sum"),
        (2, [1.0, float("nan")], "finite"),
    ],
)
def test_wrong_members_and_weights_are_refused(count, weights, message):
    with pytest.raises(InvalidArgumentError, match=message):
        VotingEnsemble(make_members(count), "softmax", weights)


def test_unknown_rule_lists_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"unknown voting rule 'loud'; known: .*soft"):
        VotingEnsemble(make_members(1), "loud")


def test_members_with_other_classes_are_an_error_that_says_so():
    other = create_model("convnet", num_classes=3).eval()
    with pytest.raises(ModelOutputError, match=r"same shape, got \[\(4, 3\), \(4, 10\)\]"):
        VotingEnsemble([*make_members(1), other])(images(4))


def test_panel_equals_members_and_ensemble_computed_separately():
    ensemble = VotingEnsemble(make_members(3), weights=[1, 2, 3])
    panel = Panel(ensemble)
    answers = panel(images(40))
    assert answers.shape == (40, 4, 10)
    assert panel.names == ("member-0", "member-1", "member-2", "ensemble")
    assert panel.evaluations_per_vote == (1, 1, 1, 3)
    assert len(panel.classifiers) == 4
    for number, classifier in enumerate(panel.classifiers):
        assert torch.equal(answers[:, number], classifier(images(40)))


def test_panel_asks_every_member_once():
    class Counting(nn.Module):
        calls = 0

        def forward(self, batch):
            self.calls += 1
            return batch

    members = [Counting(), Counting()]
    Panel(VotingEnsemble(members))(torch.zeros(3, 4))
    assert [member.calls for member in members] == [1, 1]


@pytest.mark.parametrize("names", [["a", "b"], ["a", "b", "b"]])
def test_panel_names_must_be_one_each(names):
    with pytest.raises(InvalidArgumentError, match="names must be 3 different names"):
        Panel(VotingEnsemble(make_members(2)), names)


@pytest.mark.parametrize("huge", [1e308, 1.7e308])
def test_weights_whose_sum_overflows_are_still_shares(huge):
    ensemble = VotingEnsemble(make_members(3), weights=[huge, huge, huge / 2])
    assert ensemble.weights.tolist() == pytest.approx([0.4, 0.4, 0.2])


@pytest.mark.parametrize("weights", [["a", 1], [None, 1], [10**400, 1]])
def test_weights_that_are_no_numbers_are_refused(weights):
    with pytest.raises(InvalidArgumentError, match="weights must be numbers"):
        VotingEnsemble(make_members(2), weights=weights)


def test_what_is_no_module_and_what_is_no_ensemble_is_named():
    with pytest.raises(
        InvalidArgumentError, match=r"member 1 must be a torch module, got function; .*\.model"
    ):
        VotingEnsemble([*make_members(1), lambda batch: batch])
    with pytest.raises(InvalidArgumentError, match="must be ensembles of networks, got"):
        Panel(make_members(2))
