"""DRT: gradient diversity and margin by hand, the whole loss and its gradient against a reference in NumPy."""

import math
from itertools import combinations

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.ensembles import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import Gaussian
from smoothcert.seeding import generator_for
from smoothcert.training import Moment, NoiseSource, Step
from smoothcert.training.losses.diversity import gradient_diversity, margin_gradients, margins, mean_where
from smoothcert.training.objectives.drt import Drt
from smoothcert.training.objectives.drt_smoothadv import DrtSmoothAdv
from training import objective_reference as reference

SIGMA, ROWS, MEMBERS = 0.5, 6, 3
LABELS = np.array([1, 2, 0, 0, 0, 2])


# --- by hand ---


def test_the_margin_is_the_gap_between_the_two_largest_probabilities():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.2], [0.1, 0.1, 0.8], [0.4, 0.4, 0.2]]))
    torch.testing.assert_close(margins(logits), torch.tensor([0.2, 0.7, 0.0]))


def test_the_gradient_of_a_margin_by_hand():
    """Two classes with logits (w.x, 0): the margin is tanh(w.x / 2), so g = w (1 - margin^2) / 2."""
    weights = torch.tensor([2.0, -1.0])
    inputs = torch.tensor([[0.5, 0.2], [0.1, 0.9]], requires_grad=True)
    scores = inputs @ weights
    found = margin_gradients(torch.stack([scores, torch.zeros(2)], dim=1), inputs)
    # w.x = .8 and -.7: margins tanh(.4) = .379949, tanh(.35) = .336376; the second falls as w.x grows.
    expected = torch.tensor([[0.855639, -0.427819], [-0.886851, 0.443426]])
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=0)


def test_gradient_diversity_by_hand():
    gradients = [
        torch.tensor([[1.0, 0.0], [0.0, 2.0], [5.0, 5.0]]),
        torch.tensor([[0.0, 1.0], [0.0, -2.0], [1.0, 1.0]]),
        torch.tensor([[1.0, 1.0], [3.0, 0.0], [0.0, 0.0]]),
    ]
    right = [torch.tensor(row) for row in ([True, True, False], [True, True, True], [False, True, True])]
    # Pair 0-1: rows 0 (|(1,1)|^2 = 2) and 1 (0). Pair 0-2: row 1 (|(3,2)|^2 = 13).
    # Pair 1-2: rows 1 (|(3,-2)|^2 = 13) and 2 (|(1,1)|^2 = 2). Mean of 2, 0, 13, 13, 2 is 6.
    assert gradient_diversity(gradients, right).item() == pytest.approx(6.0)


def test_a_mean_over_nothing_is_zero_and_so_is_its_gradient():
    values = torch.tensor([math.inf, 2.0], requires_grad=True)
    found = mean_where(values, torch.tensor([False, False]))
    found.backward()
    assert found.item() == 0
    assert torch.equal(values.grad, torch.zeros(2))


# --- the loss in NumPy ---


def margin_and_gradient(theta, x):
    """Margin of the tiny network at one input, and its gradient there from the chain rule."""
    a, b, c, d = (
        part.reshape(size)
        for part, size in zip(
            np.split(theta, np.cumsum([np.prod(size) for size in reference.SIZES])[:-1]),
            reference.SIZES,
            strict=True,
        )
    )
    hidden = np.tanh(a @ x + b)
    slopes = c @ (a * (1 - hidden**2)[:, None])  # of the logits, (classes, D)
    p = reference.softmax(c @ hidden + d)
    of_p = p[:, None] * (slopes - p @ slopes)
    second, first = np.argsort(p)[-2:]
    return p[first] - p[second], of_p[first] - of_p[second]


def expected_loss(thetas, inputs, labels, rho1, rho2):
    """inputs (members, rows, D), thetas (members, weights)."""
    loss, gaps, pairs = 0.0, [], []
    right = [
        [reference.logits(theta, x).argmax() == y for x, y in zip(at, labels, strict=True)]
        for theta, at in zip(thetas, inputs, strict=True)
    ]
    found = [[margin_and_gradient(t, x) for x in at] for t, at in zip(thetas, inputs, strict=True)]
    for j, (theta, at) in enumerate(zip(thetas, inputs, strict=True)):
        loss += np.mean([-np.log(reference.prob(theta, x)[y]) for x, y in zip(at, labels, strict=True)])
        gaps += [found[j][n][0] for n in range(len(labels)) if right[j][n]]
    for i, j in combinations(range(len(thetas)), 2):
        for n in range(len(labels)):
            if right[i][n] and right[j][n]:
                pairs.append(np.sum((found[i][n][1] + found[j][n][1]) ** 2))
    return loss + rho1 * np.mean(pairs) - rho2 * np.mean(gaps)


def member(seed):
    first, last = nn.Linear(reference.D, reference.HIDDEN), nn.Linear(reference.HIDDEN, reference.CLASSES)
    model = nn.Sequential(first, nn.Tanh(), last).double()
    rng = np.random.default_rng(seed)
    for weight in model.parameters():
        weight.data = torch.from_numpy(rng.normal(0, 1.5, tuple(weight.shape)))
    return model


def the_ensemble():
    return VotingEnsemble([member(seed) for seed in (7, 11, 12)])


def the_images():
    return np.random.default_rng(8).random((ROWS, reference.D))


def the_source():
    return NoiseSource(Gaussian(SIGMA), generator_for(3, 0, "test"))


def the_noise(m):
    return the_source().offsets(torch.from_numpy(the_images()), m).numpy()


def weights_of(model):
    return np.concatenate([weight.detach().numpy().ravel() for weight in model.parameters()])


def compare(objective, inputs, labels, moment=None):
    model = the_ensemble()
    parts = objective.loss(
        Step(
            model, torch.from_numpy(the_images()), torch.from_numpy(LABELS), the_source(), moment or Moment()
        )
    )
    assert list(parts) == ["cross_entropy", "gradient_diversity", "confidence_margin"]
    loss = torch.stack([*parts.values()]).sum()
    loss.backward()
    found = np.concatenate([weight.grad.numpy().ravel() for weight in model.parameters()])

    def expected(flat):
        return expected_loss(flat.reshape(MEMBERS, -1), inputs, labels, objective.rho1, objective.rho2)

    at = weights_of(model)
    assert loss.item() == pytest.approx(expected(at), abs=1e-6)
    np.testing.assert_allclose(found, reference.differences(expected, at), rtol=1e-5, atol=1e-6)
    return {name: value.item() for name, value in parts.items()}


def test_the_reference_knows_the_gradient_of_a_margin():
    theta, x = weights_of(member(7)), the_images()[0]
    _, slopes = margin_and_gradient(theta, x)
    by_steps = reference.differences(lambda at: margin_and_gradient(theta, at)[0], x)
    np.testing.assert_allclose(slopes, by_steps, atol=1e-8)


@pytest.mark.parametrize("rho1, rho2", [(0.3, 0.7), (2.0, 0.0), (0.0, 3.0)])
def test_drt(rho1, rho2):
    """Members that are right and wrong on different images, with one noise for all of them."""
    inputs = [the_images() + the_noise(1)[0]] * MEMBERS
    right = np.array(
        [
            [
                reference.logits(weights_of(one), x).argmax() == y
                for x, y in zip(inputs[0], LABELS, strict=True)
            ]
            for one in the_ensemble().members
        ]
    )
    assert 1 <= (right.sum(axis=0) >= 2).sum() < ROWS, "some image has a pair of right members, some has none"
    parts = compare(Drt(rho1=rho1, rho2=rho2), inputs, LABELS)
    assert (parts["gradient_diversity"] > 0.01) == (rho1 > 0)
    assert (parts["confidence_margin"] < -0.01) == (rho2 > 0)


@pytest.mark.parametrize("warm", [1.0, 0.4])
def test_drt_on_smoothadv(warm):
    """One adversary per member, the same noise for the attack, the loss and all members."""
    noise = the_noise(2)
    inputs = []
    for one in the_ensemble().members:
        theta = weights_of(one)
        found = [
            reference.pgd(theta, x, y, noise[:, k], 0.2 * warm, 3)
            for k, (x, y) in enumerate(zip(the_images(), LABELS, strict=True))
        ]
        inputs.append(np.concatenate([np.array(found) + copy for copy in noise]))
    assert not np.allclose(inputs[0], inputs[1])
    objective = DrtSmoothAdv(m=2, steps=3, eps=0.2, rho1=0.3, rho2=0.7)
    compare(objective, inputs, np.tile(LABELS, 2), Moment(warm=warm))


@pytest.mark.parametrize("objective", [Drt(), DrtSmoothAdv()])
def test_nothing_is_added_where_no_image_is_right(objective):
    model = the_ensemble()
    images = torch.from_numpy(the_images())
    for one in model.members:  # far more of class 0 than any noise can undo
        one[2].bias.data[0] += 100.0
    parts = objective.loss(Step(model, images, torch.ones(ROWS, dtype=torch.int64), the_source(), Moment()))
    assert parts["gradient_diversity"].item() == 0
    assert parts["confidence_margin"].item() == 0
    torch.stack([*parts.values()]).sum().backward()
    assert all(weight.grad.isfinite().all() for weight in model.parameters())


def test_one_right_member_has_a_margin_and_no_pair():
    model = the_ensemble()
    for one, bias in zip(model.members, (0, 1, 1), strict=True):
        one[2].bias.data[bias] += 100.0
    labels = torch.zeros(ROWS, dtype=torch.int64)
    parts = Drt(rho1=1.0, rho2=1.0).loss(
        Step(model, torch.from_numpy(the_images()), labels, the_source(), Moment())
    )
    assert parts["gradient_diversity"].item() == 0
    assert parts["confidence_margin"].item() == pytest.approx(-1.0)


@pytest.mark.parametrize("objective, passes", [(Drt(), 1), (DrtSmoothAdv(m=3), 3)])
def test_the_members_share_the_noise(objective, passes):
    seen = []

    class Spy(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = member(7)

        def forward(self, batch):
            if self.training:
                seen.append(batch.detach().clone())
            return self.inner(batch)

    # Equal members have equal adversaries, so any difference would be noise.
    objective.loss(
        Step(
            VotingEnsemble([Spy(), Spy()]),
            torch.from_numpy(the_images()),
            torch.from_numpy(LABELS),
            the_source(),
            Moment(),
        )
    )
    assert len(seen) == 2
    assert torch.equal(*seen)
    assert len(seen[0]) == passes * ROWS
    if isinstance(objective, Drt):
        np.testing.assert_allclose(seen[0], the_images() + the_noise(1)[0])


@pytest.mark.parametrize("model", [member(7), VotingEnsemble([member(7)])])
def test_fewer_than_two_members_are_refused(model):
    with pytest.raises(InvalidArgumentError, match="must be a VotingEnsemble of at least 2"):
        Drt().loss(
            Step(model, torch.from_numpy(the_images()), torch.from_numpy(LABELS), the_source(), Moment())
        )


@pytest.mark.parametrize("kind", [Drt, DrtSmoothAdv])
@pytest.mark.parametrize("name", ["rho1", "rho2"])
@pytest.mark.parametrize("value", [-0.1, math.nan, "1", True])
def test_a_wrong_weight_is_refused(kind, name, value):
    with pytest.raises(InvalidArgumentError, match=f"{name} must be .*got {value!r}"):
        kind(**{name: value})
