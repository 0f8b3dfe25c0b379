"""Every form of circular teaching, and every ablation, against the reference in NumPy: loss and gradient."""

import itertools

import numpy as np
import pytest
import torch

from smoothcert.errors import InvalidArgumentError
from smoothcert.training import Moment, Step
from smoothcert.training.objectives.consistency import Consistency
from smoothcert.training.objectives.smoothmix import SmoothMix
from smoothcert.training.objectives.some_consistency import SomeConsistency
from smoothcert.training.objectives.some_gaussian import SomeGaussian
from smoothcert.training.objectives.some_smoothmix import SomeSmoothMix
from training import circular_reference as reference
from training.tiny_networks import LABELS, ROWS, network_of_heads, the_images, the_source, theta_of

MIDWAY = Moment(warm=0.6, epoch=5, epochs=20)
ABLATIONS = {
    "paper": {},
    "three copies": {"m": 3},
    "hard thresholds": {"weights": "hard"},
    "high-loss end": {"weights": "high-loss"},
    "self weighting": {"teacher": "self"},
    "no cosine penalty": {"cosine": 0.0},
    "half a cosine penalty": {"cosine": 0.5},
    "published code": {"teacher_weight": False},
    "published code, high-loss end": {"teacher_weight": False, "weights": "high-loss"},
    "constant threshold": {"pace": "constant"},
    "plain multi-head": {"teacher": "none", "cosine": 0.0},
    "plain multi-head with cosine penalty": {"teacher": "none"},
}
every_ablation = pytest.mark.parametrize("settings", ABLATIONS.values(), ids=ABLATIONS)


def drawn(m):
    """The noise that an objective draws first, (m, ROWS, D), and then the shares of adversaries, (ROWS,)."""
    source = the_source()
    noise = source.offsets(torch.from_numpy(the_images(reference)), m).numpy()
    return noise, source.uniform(ROWS, torch.device("cpu")).double().numpy() / 2


def compare(objective, centres, extra, moment=MIDWAY):
    """Compare with weights times (cross entropy at the centre + `extra(theta, n, k)`), averaged, + the cosine."""
    model = network_of_heads(1.0)
    theta, (noise, _) = theta_of(model), drawn(objective.m)
    images, labels = torch.from_numpy(the_images(reference)), torch.from_numpy(LABELS)
    parts = objective.loss(Step(model, images, labels, the_source(), moment))
    loss = torch.stack([*parts.values()]).sum()
    loss.backward()
    found = np.concatenate([weight.grad.numpy().ravel() for weight in model.parameters()])

    last = objective.threshold
    constant = objective.pace == "constant"
    lbd = last if constant else reference.threshold(moment.epoch, moment.epochs, np.log(3), last)
    pairs = list(itertools.product(range(reference.HEADS), range(ROWS)))

    def smoothed(theta, k, n):
        return reference.smoothed_loss(theta, centres[n], LABELS[n], noise[:, n], k)

    losses = np.array([[smoothed(theta, k, n) for n in range(ROWS)] for k in range(reference.HEADS)])
    weights = reference.weights(losses, lbd, objective.weights, objective.teacher, objective.teacher_weight)
    if objective.teacher != "none":
        assert 0 < (losses <= lbd).sum() < losses.size
        assert 0 < (weights < 1).sum() < weights.size

    def expected(theta):
        taught = np.mean([weights[k, n] * (smoothed(theta, k, n) + extra(theta, n, k)) for k, n in pairs])
        return taught + objective.cosine * reference.cosine(theta)

    assert loss.item() == pytest.approx(expected(theta), rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(found, reference.differences(expected, theta), rtol=1e-5, atol=1e-6)
    assert abs(found).max() > 1e-3
    assert ("cosine" in parts) == (objective.cosine > 0)
    if objective.cosine > 0:
        assert parts["cosine"].item() == pytest.approx(objective.cosine * reference.cosine(theta))
    return parts


@every_ablation
def test_gaussian(settings):
    compare(SomeGaussian(**settings), the_images(reference), lambda theta, n, k: 0.0)


@every_ablation
def test_consistency(settings):
    objective = SomeConsistency(lbd=2.0, eta=0.3, **settings)
    noise, _ = drawn(objective.m)
    parts = compare(
        objective,
        the_images(reference),
        lambda theta, n, k: reference.consistency(theta, the_images(reference)[n], noise[:, n], k, 2.0, 0.3),
    )
    assert list(parts)[:3] == ["cross_entropy", "consistency", "entropy"]


@pytest.mark.parametrize("variant", ["mse", "kl-only"])
def test_consistency_in_its_other_variants(variant):
    noise, _ = drawn(2)

    def extra(theta, n, k):
        if variant == "mse":
            return 2.0 * reference.squared(theta, the_images(reference)[n], noise[:, n], k)
        return reference.consistency(theta, the_images(reference)[n], noise[:, n], k, 2.0, 0.0)

    compare(SomeConsistency(lbd=2.0, variant=variant), the_images(reference), extra)


def check_smoothmix(settings):
    objective = SomeSmoothMix(steps=2, step_size=0.3, eta=2.0, **settings)
    theta, (noise, shares) = theta_of(network_of_heads(1.0)), drawn(objective.m)
    each = [(the_images(reference)[n], LABELS[n], noise[:, n]) for n in range(ROWS)]
    average = objective.average
    far = [reference.far_away(theta, *one, 0.3, 2, average) for one in each]
    centres = [
        reference.far_away(theta, *one, 0.3 * MIDWAY.warm, 1, average) if objective.one_step else one[0]
        for one in each
    ]
    right = [
        reference.mean_z(theta, centre, noise[:, n], average).argmax() == LABELS[n]
        for n, centre in enumerate(centres)
    ]
    assert 0 < sum(right) < ROWS
    counted = right if objective.mask else [True] * ROWS

    def extra(theta, n, k):
        if not counted[n]:
            return 0.0
        mixed = reference.mixed(theta, centres[n], far[n], noise[:, n], shares[n], k, average)
        return 2.0 * MIDWAY.warm * mixed

    parts = compare(objective, centres, extra)
    assert list(parts)[:2] == ["cross_entropy", "mixed"]


@every_ablation
def test_smoothmix(settings):
    check_smoothmix(settings)


@pytest.mark.parametrize("average", ["logits", "softmax"])
@pytest.mark.parametrize("settings", [{"one_step": True}, {"mask": True}, {"one_step": True, "mask": True}])
def test_smoothmix_in_its_other_forms(settings, average):
    check_smoothmix({**settings, "average": average})


@pytest.mark.parametrize("settings", [{}, {"teacher_weight": False}, {"m": 3}])
def test_smoothmix_on_the_mean_of_the_heads_softmaxes(settings):
    """As the published code: the target averages the heads' softmaxes, the attack climbs the mean of their losses."""
    check_smoothmix({**settings, "average": "softmax"})


def test_the_two_averages_of_heads_are_different_targets_and_attacks():
    theta, (noise, _) = theta_of(network_of_heads(1.0)), drawn(2)
    one = (the_images(reference)[1], LABELS[1], noise[:, 1])
    ends = [reference.far_away(theta, *one, 0.3, 2, average) for average in ("logits", "softmax")]
    assert np.abs(ends[0] - ends[1]).max() > 1e-3
    answers = [reference.mean_z(theta, one[0], one[2], average) for average in ("logits", "softmax")]
    assert np.abs(answers[0] - answers[1]).max() > 1e-3


def test_an_attack_on_the_heads_leaves_the_network_as_found():
    model = network_of_heads(1.0)
    model.train()
    model.heads[1].eval()
    before = theta_of(model).copy()
    objective = SomeSmoothMix(average="softmax")
    arguments = (torch.from_numpy(the_images(reference)), torch.from_numpy(LABELS))
    torch.stack([*objective.loss(Step(model, *arguments, the_source(), MIDWAY)).values()]).sum().backward()
    assert [model.training, model.trunk.training, *(head.training for head in model.heads)] == [
        True,
        True,
        True,
        False,
        True,
    ]
    assert all(weight.requires_grad and weight.grad is not None for weight in model.parameters())
    np.testing.assert_array_equal(theta_of(model), before)


@pytest.mark.parametrize("average", ["probability", "", 1, None])
def test_an_unknown_average_is_refused_by_name(average):
    with pytest.raises(InvalidArgumentError, match="average must be one of logits, softmax, got"):
        SomeSmoothMix(average=average)


def test_one_head_s_loss_with_equal_weights_is_that_of_a_single_network():
    """Heads that are copies of each other, unweighted: the loss of the one network they are copies of."""
    model = network_of_heads(1.0)
    for head in model.heads[1:]:
        head.load_state_dict(model.heads[0].state_dict())
    plain = {"teacher": "none", "cosine": 0.0}
    twins = [
        (SomeConsistency(lbd=3.0, **plain), Consistency(lbd=3.0)),
        (SomeSmoothMix(mask=True, **plain), SmoothMix()),
        (SomeSmoothMix(mask=True, one_step=True, **plain), SmoothMix(one_step=True)),
        (SomeSmoothMix(mask=True, average="softmax", **plain), SmoothMix()),
        (SomeSmoothMix(mask=True, one_step=True, average="softmax", **plain), SmoothMix(one_step=True)),
    ]
    for of_heads, single in twins:
        arguments = (torch.from_numpy(the_images(reference)), torch.from_numpy(LABELS))
        losses = [
            torch.stack([*one.loss(Step(net, *arguments, the_source(), MIDWAY)).values()]).sum().item()
            for one, net in ((of_heads, model), (single, model.head(0)))
        ]
        assert losses[0] == pytest.approx(losses[1], rel=1e-12)
