"""Every registered objective through the same laws."""

import math
from dataclasses import FrozenInstanceError

import pytest
import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import MultiHead
from smoothcert.noise import Gaussian, Laplace, Uniform
from smoothcert.seeding import generator_for
from smoothcert.training import OBJECTIVES, Moment, NoiseSource, Step
from smoothcert.training.objectives.advmacer import AdvMacer
from smoothcert.training.objectives.consistency import Consistency
from smoothcert.training.objectives.consistency_smoothadv import ConsistencySmoothAdv
from smoothcert.training.objectives.macer import Macer
from smoothcert.training.objectives.smoothadv import SmoothAdv
from smoothcert.training.objectives.smoothmix import SmoothMix
from smoothcert.training.objectives.some_consistency import SomeConsistency
from smoothcert.training.objectives.some_gaussian import SomeGaussian
from smoothcert.training.objectives.some_smoothmix import SomeSmoothMix
from smoothcert.training.objectives.stability import StabilityTraining

ROWS, SHAPE = 6, (1, 4, 4)
# Weights and thresholds that bring every part of a loss to life on a network that has learnt nothing.
SPECIAL = [
    SmoothAdv(attack="ddn", steps=4),
    Consistency(variant="mse", m=3),
    Consistency(variant="kl-only"),
    ConsistencySmoothAdv(attack="ddn", m=3, variant="mse"),
    SmoothMix(one_step=True),
    Macer(m=4, beta=1.0, deferred=True),
    SomeGaussian(m=1, weights="hard", threshold=5.0),
    SomeConsistency(m=3, variant="mse", teacher="self"),
    SomeSmoothMix(one_step=True, mask=True, teacher="none", cosine=0.0),
]
# What trains members of an ensemble or a denoiser has laws of its own: test_drt.py, test_denoiser_objectives.py.
ALL = [OBJECTIVES[name]() for name in OBJECTIVES if OBJECTIVES[name].trains == "network"] + SPECIAL
LAWS = [Gaussian(0.25), Uniform(0.4), Laplace(0.2)]
every_objective = pytest.mark.parametrize("objective", ALL, ids=str)


def network(objective, dtype=torch.float32):
    """No batch norm: rows are independent, so that halves of a batch add up to the whole."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        trunk = nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.ReLU())
        return with_heads(objective, trunk, lambda: nn.Linear(12, 4)).to(dtype)


def with_heads(objective, trunk, head):
    """End a network with one head, or with as many as the objective needs."""
    if objective.least_heads == 1:
        return nn.Sequential(*trunk, head())
    return MultiHead(trunk, [head() for _ in range(objective.least_heads + 1)])


def batch(dtype=torch.float32):
    images = torch.rand(ROWS, *SHAPE, generator=generator_for(1, 0, "test"), dtype=torch.float64).to(dtype)
    return images, torch.tensor([0, 1, 2, 3, 0, 1])


def source(law=LAWS[0], **sharing):
    return NoiseSource(law, generator_for(2, 0, "test"), **sharing)


def total(parts):
    return torch.stack([*parts.values()]).sum()


def gradients_of(objective, model, images, labels, noise, moment=None):
    model.zero_grad()
    loss = total(objective.loss(Step(model, images, labels, noise, moment or Moment())))
    loss.backward()
    return loss.detach(), [weight.grad.clone() for weight in model.parameters()]


@every_objective
@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.law_name)
@pytest.mark.parametrize("moment", [Moment(), Moment(warm=0.1, dropped=False)], ids=["late", "early"])
def test_parts_are_finite_scalars_with_gradients_at_every_weight(objective, law, moment):
    model, (images, labels) = network(objective), batch()
    before = images.clone()
    parts = objective.loss(Step(model, images, labels, source(law), moment))
    assert "cross_entropy" in parts
    for value in parts.values():
        assert value.shape == ()
        assert value.dtype == torch.float32
        assert math.isfinite(value.item())
    total(parts).backward()
    for weight in model.parameters():
        assert weight.grad.isfinite().all()
        assert weight.grad.abs().max() > 0
    assert torch.equal(images, before)
    assert images.grad is None
    assert all(module.training for module in model.modules())


@every_objective
def test_equal_generators_give_equal_numbers_and_others_do_not(objective):
    model, (images, labels) = network(objective), batch()
    state = torch.random.get_rng_state()
    one, two = (gradients_of(objective, model, images, labels, source()) for _ in range(2))
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.equal(one[0], two[0])
    assert all(torch.equal(a, b) for a, b in zip(one[1], two[1], strict=True))
    other = NoiseSource(LAWS[0], generator_for(3, 0, "test"))
    moved = gradients_of(objective, model, images, labels, other)[0]
    assert torch.equal(moved, one[0]) == (objective == OBJECTIVES["standard"]())


@every_objective
@pytest.mark.parametrize("cut", [3, 2])
def test_two_processes_train_as_one(objective, cut):
    model, (images, labels) = network(objective, torch.float64), batch(torch.float64)
    whole, of_whole = gradients_of(objective, model, images, labels, source(total=ROWS))
    shares, weights = [], [cut / ROWS, 1 - cut / ROWS]
    for first, last in ((0, cut), (cut, ROWS)):
        part = source(first=first, total=ROWS)
        shares.append(gradients_of(objective, model, images[first:last], labels[first:last], part))
    assert weights[0] * shares[0][0] + weights[1] * shares[1][0] == pytest.approx(whole.item(), rel=1e-9)
    for expected, a, b in zip(of_whole, shares[0][1], shares[1][1], strict=True):
        torch.testing.assert_close(weights[0] * a + weights[1] * b, expected, rtol=1e-6, atol=1e-9)


@every_objective
def test_works_with_batch_norm_dropout_and_bfloat16(objective):
    """Batch norm learns from the loss's own passes and never from an attack's."""
    torch_state = torch.random.get_rng_state()
    norm = nn.BatchNorm2d(4)
    trunk = nn.Sequential(nn.Conv2d(1, 4, 3), norm, nn.ReLU(), nn.Dropout(0.2), nn.Flatten())
    model = with_heads(objective, trunk, lambda: nn.Linear(16, 4))
    images, labels = batch()
    with torch.autocast("cpu", torch.bfloat16):
        parts = objective.loss(Step(model, images, labels, source(), Moment()))
    total(parts).backward()
    assert all(value.dtype == torch.float32 and value.isfinite() for value in parts.values())
    assert all(weight.grad.isfinite().all() for weight in model.parameters())
    passes = 2 if isinstance(objective, StabilityTraining | SmoothMix | SomeSmoothMix) else 1
    assert int(norm.num_batches_tracked) == passes
    torch.random.set_rng_state(torch_state)


@every_objective
def test_counts_its_passes(objective):
    """`copies` and `cost` are what the network really sees: rows in train mode, and 2/3 of rows in eval mode."""
    rows = {True: 0, False: 0}

    def count(module, inputs):
        rows[module.training] += len(inputs[0])

    model, (images, labels) = network(objective), batch()
    first = model.trunk if isinstance(model, MultiHead) else model  # the trunk runs once for all heads
    first.register_forward_pre_hook(count)
    objective.loss(Step(model, images, labels, source(), Moment()))
    assert objective.cost == pytest.approx((rows[True] + rows[False] * 2 / 3) / ROWS)
    assert rows[True] % (ROWS * objective.copies) == 0


def test_published_prices():
    assert SmoothAdv(m=2, steps=2).cost == pytest.approx(4.67, abs=0.005)
    assert Macer().cost == 16
    assert SmoothMix(m=2, steps=4).cost == pytest.approx(2 + 2 + 4 * 2 * 2 / 3)
    assert StabilityTraining().cost == 2


@pytest.mark.parametrize("name", OBJECTIVES)
def test_is_a_frozen_record_that_says_what_it_is(name):
    kind = OBJECTIVES[name]
    assert kind() == kind()
    assert 10 < len(kind.summary) < 100
    assert kind.batch_counts_images == (name == "macer")
    with pytest.raises((FrozenInstanceError, TypeError)):
        kind().m = 3


WRONG = [
    (StabilityTraining, "lbd", (-0.1, math.nan, math.inf, "2", None, True)),
    (SmoothAdv, "m", (0, -1, 1.5, True, "2")),
    (SmoothAdv, "steps", (0, 2.0)),
    (SmoothAdv, "eps", (0, -1.0, math.inf, math.nan)),
    (SmoothAdv, "attack", ("fgsm", "", None)),
    (ConsistencySmoothAdv, "m", (1, 0)),
    (ConsistencySmoothAdv, "eps", (0.0,)),
    (ConsistencySmoothAdv, "variant", ("l2",)),
    (Consistency, "m", (1, 0)),
    (Consistency, "lbd", (-1,)),
    (Consistency, "eta", (-0.5,)),
    (Consistency, "variant", ("KL", "l2")),
    (Macer, "m", (0,)),
    (Macer, "lbd", (-12,)),
    (Macer, "gamma", (0, -8)),
    (Macer, "beta", (0, -16)),
    (Macer, "deferred", ("no", 1)),
    (SmoothMix, "m", (0,)),
    (SmoothMix, "steps", (0,)),
    (SmoothMix, "step_size", (0, -0.5)),
    (SmoothMix, "eta", (-5,)),
    (SmoothMix, "one_step", ("yes",)),
    (AdvMacer, "eps", (0,)),
    (AdvMacer, "gamma", (0,)),
    (AdvMacer, "deferred", ("no",)),
    (AdvMacer, "lbd", (-1,)),
]


@pytest.mark.parametrize(
    "kind, name, value", [(kind, name, value) for kind, name, values in WRONG for value in values]
)
def test_refuses_a_wrong_setting_by_name_and_value(kind, name, value):
    with pytest.raises(InvalidArgumentError) as caught:
        kind(**{name: value})
    assert str(caught.value).startswith(f"{name} must be ")
    assert str(caught.value).endswith(f"got {value!r}")


def test_a_refused_name_lists_the_known_ones():
    with pytest.raises(InvalidArgumentError, match="one of ddn, pgd"):
        SmoothAdv(attack="fgsm")
    with pytest.raises(InvalidArgumentError, match="one of kl, kl-only, mse"):
        Consistency(variant="l2")
    with pytest.raises(InvalidArgumentError, match="2 or more, because consistency compares the copies"):
        Consistency(m=1)


def test_a_weight_of_zero_leaves_its_part_out():
    images, labels = batch()
    silent = [Consistency(lbd=0, eta=0), SmoothMix(eta=0), StabilityTraining(lbd=0), Macer(lbd=0)]
    silent += [SomeConsistency(lbd=0, eta=0, cosine=0), SomeSmoothMix(eta=0, cosine=0)]
    for objective in silent:
        model = network(objective)
        parts = objective.loss(Step(model, images, labels, source(), Moment()))
        assert all(value.item() == 0 for name, value in parts.items() if name != "cross_entropy")
