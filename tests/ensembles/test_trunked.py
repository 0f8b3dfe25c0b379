"""Heads of one network as an ensemble: against a slow reference that asks head by head and image by image."""

import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.ensembles import (
    VOTING_RULES,
    ConsensusEnsemble,
    Panel,
    TrunkedEnsemble,
    VotingEnsemble,
    chosen_heads,
)
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import MIN_ROWS, MultiHead, counted, exits_early, model_digest, whole_parts

CLASSES, PIXELS, FEATURES, HEADS = 4, 6, 5, 5


class Counting(nn.Module):
    """A linear map that remembers how many rows it was asked about."""

    def __init__(self, matrix):
        super().__init__()
        self.matrix = nn.Parameter(matrix, requires_grad=False)
        self.asked = []

    def forward(self, batch):
        self.asked.append(len(batch))
        # Row by row in a fixed order, so that the reference can ask for equality.
        return (batch.unsqueeze(2) * self.matrix).sum(dim=1)


def network():
    generator = torch.Generator().manual_seed(99)
    shared = torch.randn(FEATURES, CLASSES, generator=generator)
    trunk = Counting(torch.randn(PIXELS, FEATURES, generator=generator))
    heads = [Counting(shared + torch.randn(FEATURES, CLASSES, generator=generator)) for _ in range(HEADS)]
    return MultiHead(trunk, heads).eval()


def images(rows, seed=5):
    return torch.randn(rows, PIXELS, generator=torch.Generator().manual_seed(seed))


def over_heads(model, rule="soft", weights=None, k=None, numbers=None):
    ensemble = VotingEnsemble(chosen_heads(model, numbers), rule, weights)
    return TrunkedEnsemble(model.trunk, ensemble if k is None else ConsensusEnsemble(ensemble, k)).eval()


def with_cost(model, batch):
    return counted(model, batch, lambda part, rows: part(rows))


def logits_of(model, image):
    """Logits of every head for one image, in double precision, trunk and all again for each."""
    features = (image.double().unsqueeze(1) * model.trunk.matrix.double()).sum(dim=0)
    return [(features.unsqueeze(1) * head.matrix.double()).sum(dim=0) for head in model.heads]


@pytest.mark.parametrize("weights", [[1.0] * HEADS, [0.5, 2.0, 0.0, 1.0, 3.0]])
@pytest.mark.parametrize("k", [1, 2, 4, HEADS])
def test_consensus_over_heads_is_what_the_definition_says(k, weights):
    model = network()
    logits, passes = with_cost(over_heads(model, weights=weights, k=k), images(300))
    for row, image in enumerate(images(300)):
        each = logits_of(model, image)
        asked = k if len({int(one.argmax()) for one in each[:k]}) == 1 else HEADS
        expected = sum(w * one for w, one in zip(weights[:asked], each, strict=False)) / sum(weights[:asked])
        assert int(logits[row].argmax()) == int(expected.argmax())
        assert int(passes[row]) == asked
    if k in (2, 4):
        assert set(passes.tolist()) == {k, HEADS}  # both ways were taken


def test_the_trunk_runs_once_and_later_heads_on_the_open_rows_only():
    model = network()
    _, passes = with_cost(over_heads(model, k=2), images(300))
    still_open = int((passes == HEADS).sum())
    assert MIN_ROWS < still_open < 300
    assert model.trunk.asked == [300]
    assert [head.asked for head in model.heads] == [[300]] * 2 + [[still_open]] * 3
    model = network()
    few = images(300)[[*(passes == 2).nonzero()[:40, 0].tolist(), int((passes == HEADS).nonzero()[0, 0])]]
    _, cost = with_cost(over_heads(model, k=2), few)
    assert cost.tolist() == [2] * 40 + [HEADS]  # rows that fill up the batch are not counted
    assert (model.trunk.asked, model.heads[4].asked) == ([41], [MIN_ROWS])


@pytest.mark.parametrize("rule", VOTING_RULES)
def test_any_rule_over_heads_is_that_rule_over_the_heads_as_classifiers(rule):
    model = network()
    heads = VotingEnsemble([model.head(number) for number in range(HEADS)], rule).eval()
    found = over_heads(model, rule)
    assert torch.equal(found(images(50)), heads(images(50)))
    assert torch.equal(found.member_logits(images(50)), model.head_logits(images(50)))
    assert torch.equal(found.combine(found.member_logits(images(50))), found(images(50)))
    assert found.evaluations_per_vote == HEADS
    assert not exits_early(found)
    assert with_cost(found, images(50))[1].tolist() == [HEADS] * 50


def test_the_soft_vote_of_all_heads_is_the_network():
    model = network()
    torch.testing.assert_close(over_heads(model)(images(50)), model(images(50)))
    assert model.evaluations_per_vote == HEADS
    pair = VotingEnsemble([model, over_heads(model, k=2)])
    assert pair.evaluations_per_vote == 2 * HEADS
    _, passes = with_cost(pair.eval(), images(100))
    assert set(passes.tolist()) == {HEADS + 2, 2 * HEADS}


def test_parts_come_with_what_they_read():
    model, image = network(), images(1)[0]
    parts = whole_parts(over_heads(model, k=2), image)
    assert [part for part, _ in parts] == [model.trunk, *model.heads]
    assert [tuple(seen.shape) for _, seen in parts] == [(PIXELS,)] + [(FEATURES,)] * HEADS
    whole = over_heads(model)
    assert whole_parts(whole, image) == [(whole, image)]
    nested = ConsensusEnsemble(VotingEnsemble([model.head(0), over_heads(model, k=2), model]), 2)
    assert [tuple(seen.shape) for _, seen in whole_parts(nested, image)] == [
        (PIXELS,),
        (PIXELS,),
        *[(FEATURES,)] * HEADS,
        (PIXELS,),
    ]


def test_digests_tell_rule_order_number_and_trunk_apart():
    model, other = network(), network()
    other.trunk.matrix.data += 1
    made = [
        over_heads(model),
        over_heads(model, "hard"),
        over_heads(model, k=2),
        over_heads(model, k=3),
        over_heads(model, k=2, numbers=[1, 0, 2, 3, 4]),
        over_heads(model, k=2, numbers=[0, 1, 2]),
        over_heads(other, k=2),
    ]
    assert len({model_digest(one) for one in made}) == len(made)
    assert model_digest(over_heads(network(), k=2)) == model_digest(made[2])


def test_train_mode_shows():
    model = network()
    assert not over_heads(model).training
    ensemble = VotingEnsemble(list(model.heads))
    model.trunk.train()
    assert TrunkedEnsemble(model.trunk, ensemble).training
    with pytest.raises(sc.errors.UnsoundModelError):
        sc.SmoothedClassifier(TrunkedEnsemble(model.trunk, ensemble), sc.Gaussian(0.25), CLASSES).certify(
            images(1)[0].clamp(0, 1), sc.FixedSample(n=100)
        )


@pytest.mark.parametrize("numbers", [[], [0, 0], [5], [-1]])
def test_heads_that_are_not_there_are_refused(numbers):
    with pytest.raises(InvalidArgumentError, match="different numbers from 0 to 4"):
        chosen_heads(network(), numbers)


def test_what_cannot_be_is_refused():
    model = network()
    with pytest.raises(InvalidArgumentError, match="ensemble must be a VotingEnsemble"):
        TrunkedEnsemble(model.trunk, model)
    with pytest.raises(InvalidArgumentError, match="read its trunk's features"):
        Panel(over_heads(model, k=2))
