"""K-consensus against a slow reference that asks one member about one image at a time."""

import copy

import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.ensembles import ConsensusEnsemble, Panel, VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import MIN_ROWS, counted, model_digest

CLASSES, PIXELS = 4, 6


class Linear(nn.Module):
    """A linear classifier that remembers how many rows it was asked about."""

    def __init__(self, seed, scale=1.0):
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        shared = torch.randn(PIXELS, CLASSES, generator=torch.Generator().manual_seed(99))
        self.matrix = nn.Parameter(
            shared + scale * torch.randn(PIXELS, CLASSES, generator=generator), requires_grad=False
        )
        self.asked = []

    def forward(self, batch):
        self.asked.append(len(batch))
        # Row by row in a fixed order, so that the reference can ask for equality.
        return (batch.unsqueeze(2) * self.matrix).sum(dim=1)


def members(count, scale=1.0):
    return [Linear(seed, scale).eval() for seed in range(count)]


def images(rows, seed=5):
    return torch.randn(rows, PIXELS, generator=torch.Generator().manual_seed(seed))


def reference(parts, weights, k, image):
    """Logits and evaluations for one image, from the definition."""

    def mean(logits, shares):
        return sum(share / sum(shares) * one for share, one in zip(shares, logits, strict=True))

    answers = [(image.double().unsqueeze(1) * part.matrix.double()).sum(dim=0) for part in parts]
    if len({int(one.argmax()) for one in answers[:k]}) == 1:
        return mean(answers[:k], weights[:k]), k
    return mean(answers, weights), len(parts)


def with_cost(model, batch):
    return counted(model, batch, lambda part, rows: part(rows))


@pytest.mark.parametrize("weights", [[1.0] * 5, [0.5, 2.0, 0.0, 1.0, 3.0]])
@pytest.mark.parametrize("k", [1, 2, 3, 5])
@pytest.mark.parametrize("rows", [16, 500])
def test_every_row_is_what_the_definition_says(k, weights, rows):
    parts = members(5)
    ensemble = ConsensusEnsemble(VotingEnsemble(parts, weights=weights), k)
    logits, passes = with_cost(ensemble, images(rows))
    for row, image in enumerate(images(rows)):
        expected, cost = reference(parts, weights, k, image)
        assert int(logits[row].argmax()) == int(expected.argmax())
        torch.testing.assert_close(logits[row].double(), expected, rtol=1e-5, atol=1e-5)
        assert int(passes[row]) == cost
    if rows == 500 and k in (2, 3):
        assert set(passes.tolist()) == {k, 5}  # both ways were taken
    assert torch.equal(ensemble(images(rows)), logits)


@pytest.mark.parametrize("weights", [None, [0.1, 0.2, 0.3]])
def test_consensus_of_all_members_is_plain_voting_to_the_last_bit(weights):
    ensemble = VotingEnsemble(members(3), weights=weights)
    consensus = ConsensusEnsemble(ensemble, 3)
    assert torch.equal(consensus(images(200)), ensemble(images(200)))
    assert with_cost(consensus, images(20))[1].tolist() == [3] * 20


def test_later_members_are_asked_about_the_open_rows_only_and_never_about_few():
    parts = members(4)
    _, passes = with_cost(ConsensusEnsemble(VotingEnsemble(parts)), images(300))
    still_open = int((passes == 4).sum())
    assert MIN_ROWS < still_open < 300
    assert [part.asked for part in parts] == [[300], [300], [still_open], [still_open]]
    few = images(300)[[*(passes == 2).nonzero()[:40, 0].tolist(), int((passes == 4).nonzero()[0, 0])]]
    _, passes = with_cost(ConsensusEnsemble(VotingEnsemble(parts)), few)
    assert passes.tolist() == [2] * 40 + [4]  # rows that fill up the batch are not counted
    assert parts[3].asked[-1] == MIN_ROWS


def test_nobody_else_is_asked_where_all_agree():
    parts = members(3, scale=0.0)
    ConsensusEnsemble(VotingEnsemble(parts))(images(50))
    assert [part.asked for part in parts] == [[50], [50], []]


def test_the_decision_of_a_row_does_not_depend_on_its_neighbours():
    ensemble = ConsensusEnsemble(VotingEnsemble(members(4)))
    logits, passes = with_cost(ensemble, images(120))
    order = torch.randperm(120, generator=torch.Generator().manual_seed(1))
    for part in order.split(17):
        some, cost = with_cost(ensemble, images(120)[part])
        assert torch.equal(cost, passes[part])
        torch.testing.assert_close(some, logits[part], rtol=0, atol=1e-6)


def test_members_that_are_ensembles_are_charged_for_what_they_cost():
    inner = ConsensusEnsemble(VotingEnsemble(members(3)), 2)
    pair = VotingEnsemble([Linear(7), Linear(8)])
    outer = ConsensusEnsemble(VotingEnsemble([pair, inner, Linear(9)]), 2).eval()
    logits, passes = with_cost(outer, images(400))
    _, inside = with_cost(inner, images(400))
    alike = pair(images(400)).argmax(1) == inner(images(400)).argmax(1)
    assert torch.equal(passes, 2 + inside + (~alike).long())
    assert set(passes.tolist()) == {4, 5, 6}  # both exits, taken and not taken
    torch.testing.assert_close(logits, outer(images(400)), rtol=0, atol=1e-6)
    voting = VotingEnsemble([inner, Linear(9)]).eval()
    assert torch.equal(with_cost(voting, images(400))[1], inside + 1)


def test_a_panel_answers_for_members_and_consensus():
    consensus = ConsensusEnsemble(VotingEnsemble(members(3))).eval()
    panel = Panel(consensus)
    logits, passes = with_cost(panel, images(200))
    alone, cost = with_cost(consensus, images(200))
    assert logits.shape == (200, 4, CLASSES)
    torch.testing.assert_close(logits[:, 3], alone, rtol=0, atol=1e-6)
    torch.testing.assert_close(panel(images(200)), logits, rtol=0, atol=1e-6)
    assert passes[:, :3].tolist() == [[1, 1, 1]] * 200
    assert torch.equal(passes[:, 3], cost)


def test_a_panel_of_several_ensembles_answers_as_each_alone():
    shared = members(3)
    several = [
        VotingEnsemble(shared, "hard"),
        ConsensusEnsemble(VotingEnsemble(shared)),
        VotingEnsemble([copy.deepcopy(member) for member in shared], "softmax", [1, 2, 3]),
    ]
    panel = Panel([ensemble.eval() for ensemble in several])
    assert panel.names == ("member-0", "member-1", "member-2", "ensemble-0", "ensemble-1", "ensemble-2")
    assert panel.evaluations_per_vote == (1, 1, 1, 3, 3, 3)
    logits, passes = with_cost(panel, images(200))
    for place, classifier in enumerate(panel.classifiers):
        alone, cost = with_cost(classifier, images(200))
        torch.testing.assert_close(logits[:, place], alone, rtol=0, atol=1e-6)
        assert torch.equal(passes[:, place], cost)


@pytest.mark.parametrize("places", [[1, 0, 2], [0, 1], [2, 1], [0, 1, 1], [2]])
def test_a_panel_answers_for_ensembles_of_some_members_in_any_order(places):
    shared = members(3)
    some = [copy.deepcopy(shared[place]) for place in places]
    narrow = VotingEnsemble(some, "softmax", [2.0, 1.0, 4.0][: len(some)])
    exiting = ConsensusEnsemble(VotingEnsemble(some), min(2, len(some)))
    panel = Panel([narrow.eval(), exiting.eval(), VotingEnsemble(shared).eval()])
    assert panel.evaluations_per_vote == (1, 1, 1, len(places), len(places), 3)
    logits, passes = with_cost(panel, images(200))
    torch.testing.assert_close(panel(images(200)), logits, rtol=0, atol=1e-6)
    for place, classifier in enumerate(panel.classifiers):
        alone, cost = with_cost(classifier, images(200))
        torch.testing.assert_close(logits[:, place], alone, rtol=0, atol=1e-6)
        assert torch.equal(passes[:, place], cost)


class Signed(torch.nn.Module):
    """No weights: its digest does not tell it from another of another sign."""

    def __init__(self, sign):
        super().__init__()
        self.sign = sign

    def forward(self, batch):
        return self.sign * batch[:, :CLASSES]


def test_a_panel_tells_modules_apart_that_their_digests_do_not():
    shared = [Signed(1.0), Signed(-1.0), Signed(2.0)]
    batch = torch.randn(50, CLASSES + 3, generator=torch.Generator().manual_seed(0))
    panel = Panel([VotingEnsemble([shared[1]]).eval(), VotingEnsemble([shared[2], shared[1]]).eval(),
                   VotingEnsemble(shared[::-1], "soft", [1, 2, 3]).eval(),
                   VotingEnsemble(shared, "hard").eval()])  # fmt: skip
    for place, classifier in enumerate(panel.classifiers):
        torch.testing.assert_close(panel(batch)[:, place], classifier(batch))
    for stranger in (copy.deepcopy(shared[1]), Signed(3.0)):
        with pytest.raises(InvalidArgumentError, match="not one alone that it could be"):
            Panel([VotingEnsemble(shared), VotingEnsemble([stranger])])


def test_a_panel_refuses_members_that_the_widest_ensemble_lacks():
    shared = members(4)
    with pytest.raises(InvalidArgumentError, match="ensemble 1 has a member that the widest"):
        Panel([VotingEnsemble(shared[:3]), VotingEnsemble(shared[2:])])
    with pytest.raises(InvalidArgumentError, match="at least one ensemble"):
        Panel([])


def test_gradients_flow_through_both_ways():
    batch = images(50).requires_grad_()
    ConsensusEnsemble(VotingEnsemble(members(3)))(batch).logsumexp(1).sum().backward()
    assert (batch.grad.abs().sum(dim=1) > 0).all()


@pytest.mark.parametrize("k", [0, -1, 4, True, 1.5])
def test_wrong_numbers_of_first_members_are_refused(k):
    with pytest.raises(InvalidArgumentError, match="k must be an integer from 1 to the 3 members"):
        ConsensusEnsemble(VotingEnsemble(members(3)), k)


def test_first_members_without_weight_and_other_models_are_refused():
    with pytest.raises(InvalidArgumentError, match="weight 0"):
        ConsensusEnsemble(VotingEnsemble(members(3), weights=[0, 0, 1]), 2)
    with pytest.raises(InvalidArgumentError, match="VotingEnsemble, got Linear"):
        ConsensusEnsemble(Linear(0))


def test_k_and_the_order_of_members_are_part_of_the_digest():
    plain = VotingEnsemble(members(3))
    digests = {
        model_digest(model)
        for model in (
            plain,
            ConsensusEnsemble(plain, 1),
            ConsensusEnsemble(plain, 2),
            ConsensusEnsemble(VotingEnsemble(members(3)[::-1]), 2),
            VotingEnsemble([ConsensusEnsemble(plain, 1)]),
            VotingEnsemble([ConsensusEnsemble(plain, 2)]),
        )
    }
    assert len(digests) == 6
    assert model_digest(ConsensusEnsemble(VotingEnsemble(members(3)), 2)) in digests


def test_identities_in_certificates_differ_by_k():
    found = {
        sc.SmoothedClassifier(
            ConsensusEnsemble(VotingEnsemble(members(3)).eval(), k), sc.Gaussian(0.5), CLASSES
        )
        .certify(torch.zeros(PIXELS), sc.FixedSample(n=64), seed=1, workers=1)
        .model
        for k in (1, 2, 3)
    }
    assert len(found) == 3
