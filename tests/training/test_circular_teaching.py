"""Circular teaching by parts: threshold, weights, cosine penalty, whose gradient goes where, and refusals."""

import math

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import MultiHead, create_model
from smoothcert.noise import Gaussian
from smoothcert.seeding import generator_for
from smoothcert.training import Moment, NoiseSource, Step, TrainConfig
from smoothcert.training.losses.head_cosine import head_cosine
from smoothcert.training.losses.self_paced import self_paced_weights, threshold_at
from smoothcert.training.objectives.some_consistency import SomeConsistency
from smoothcert.training.objectives.some_gaussian import SomeGaussian
from smoothcert.training.objectives.some_smoothmix import SomeSmoothMix
from training import circular_reference as reference
from training.tiny_networks import network_of_heads

METHODS = {
    "some-gaussian": SomeGaussian,
    "some-consistency": SomeConsistency,
    "some-smoothmix": SomeSmoothMix,
}


# --- lambda(t) ---


@pytest.mark.parametrize("epoch, value", [(1, 2.3026), (10, 1.8461), (75, 1.0903), (150, 0.8)])
def test_the_threshold_s_check_values(epoch, value):
    assert threshold_at(epoch, 150, first=math.log(10), last=0.8) == pytest.approx(value, abs=1e-4)
    objective = SomeGaussian(threshold=0.8)
    assert objective.threshold_in(Moment(epoch=epoch, epochs=150), 10) == pytest.approx(value, abs=1e-4)


@pytest.mark.parametrize("first, last, epochs", [(2.3, 0.8, 2), (2.3, 1.6, 20), (0.5, 3.0, 7)])
def test_the_threshold_goes_one_way_from_first_to_last(first, last, epochs):
    found = [threshold_at(epoch, epochs, first=first, last=last) for epoch in range(1, epochs + 1)]
    assert found[0] == pytest.approx(first)
    assert found[-1] == pytest.approx(last)
    assert found == sorted(found, reverse=first > last)
    solved = [reference.threshold(epoch, epochs, first, last) for epoch in range(1, epochs + 1)]
    assert found == pytest.approx(solved, abs=1e-9)


def test_a_training_of_one_epoch_has_the_last_threshold():
    assert threshold_at(1, 1, first=2.3, last=0.8) == 0.8


def test_a_constant_pace_keeps_the_threshold():
    objective = SomeGaussian(pace="constant", threshold=1.3)
    assert {objective.threshold_in(Moment(epoch=t, epochs=9), 10) for t in range(1, 10)} == {1.3}


# --- Eq. (5) ---


def test_soft_weights_by_hand():
    """lambda = ln 2: (1 + 1/2) / (1 + exp(L) / 2) above it, so 3/4 of 1 just above, 1/2 at ln 4, 1/6 at ln 16."""
    losses = torch.tensor([0.0, math.log(2) - 1e-9, math.log(4), math.log(16), 1e4], dtype=torch.float64)
    weights = self_paced_weights(losses, losses, math.log(2), "soft")
    assert weights.tolist() == pytest.approx([1, 1, 1 / 2, 1 / 6, 0], abs=1e-12)
    just_above = torch.tensor([math.log(2) + 1e-9], dtype=torch.float64)
    assert self_paced_weights(just_above, just_above, math.log(2), "soft").item() == pytest.approx(3 / 4)


def test_hard_weights_by_hand():
    losses = torch.tensor([0.0, 0.5, 0.500001, 9.0])
    assert self_paced_weights(losses, losses, 0.5, "hard").tolist() == [1, 1, 0, 0]


def test_weights_on_the_high_loss_end_by_hand():
    """lambda = ln 2, mirrored: (3/2) / (1 + 2 exp(-L)) below it: 1/2 at 0 and 3/5 where exp(L) = 4/3."""
    losses = torch.tensor([0.0, math.log(4 / 3), math.log(2) + 1e-9, 50.0], dtype=torch.float64)
    weights = self_paced_weights(losses, losses, math.log(2), "high-loss")
    assert weights.tolist() == pytest.approx([1 / 2, 3 / 5, 1, 1], abs=1e-12)


def test_a_pupil_s_loss_may_grade_what_the_teacher_calls_hard():
    """lambda = ln 2: the teacher finds the last two hard; the pupil's ln 4 and 0 grade them."""
    teacher = torch.tensor([0.1, 2.0, 2.0], dtype=torch.float64)
    pupil = torch.tensor([9.0, math.log(4), 0.0], dtype=torch.float64)
    assert self_paced_weights(teacher, pupil, math.log(2), "soft").tolist() == pytest.approx([1, 1 / 2, 1])


@pytest.mark.parametrize("scheme", ["soft", "hard", "high-loss"])
def test_weights_lie_in_0_to_1_carry_no_graph_and_survive_any_loss(scheme):
    losses = torch.tensor([0.0, 1e-3, 1.0, 80.0, 1e5, 3e38], requires_grad=True)
    weights = self_paced_weights(losses, losses, 0.8, scheme)
    assert not weights.requires_grad
    assert ((weights >= 0) & (weights <= 1)).all()


def test_each_head_is_taught_by_the_one_before_and_the_first_by_the_last():
    """Head 0 finds image 0 hard, head 1 image 1, head 2 image 2: the next head leaves it out."""
    losses = 2.0 * torch.eye(3)
    own = 1 - torch.eye(3)
    objective = SomeGaussian(weights="hard", threshold=1.0)
    assert torch.equal(objective.image_weights(losses, 10, Moment()), own.roll(1, dims=0))
    assert objective.image_weights(losses, 10, Moment())[0].tolist() == [1, 1, 0]
    alone = SomeGaussian(weights="hard", threshold=1.0, teacher="self")
    assert torch.equal(alone.image_weights(losses, 10, Moment()), own)
    plain = SomeGaussian(weights="hard", threshold=1.0, teacher="none")
    assert torch.equal(plain.image_weights(losses, 10, Moment()), torch.ones(3, 3))


# --- L_cos ---


def heads_of(*rows):
    made = []
    for weight, bias in rows:
        head = nn.Linear(2, 1)
        head.weight.data, head.bias.data = torch.tensor([weight]), torch.tensor([bias])
        made.append(head)
    return made


def test_the_cosine_penalty_by_hand():
    """(1,0,0), (1,1,0), (0,0,2): cosines 1/sqrt 2, 0, 0, so 1/2; scale free."""
    heads = heads_of(([1.0, 0.0], 0.0), ([1.0, 1.0], 0.0), ([0.0, 0.0], 2.0))
    assert head_cosine(heads).item() == pytest.approx(0.5)
    heads[1].weight.data *= 30
    assert head_cosine(heads).item() == pytest.approx(0.5)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_equal_and_opposite_heads_are_penalised_once_per_pair(count):
    heads = heads_of(*[([1.0, 2.0], 0.5)] * count)
    heads[0].weight.data, heads[0].bias.data = -heads[0].weight.data, -heads[0].bias.data
    assert head_cosine(heads).item() == pytest.approx(count * (count - 1) / 2)


def test_the_cosine_penalty_keeps_its_digits_under_autocast_and_moves_heads_apart():
    model = create_model("convnet", num_classes=10, heads=3)
    exact = head_cosine(model.heads).item()
    with torch.autocast("cpu", torch.bfloat16):
        assert head_cosine(model.heads).item() == exact
    step = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(20):
        step.zero_grad()
        head_cosine(model.heads).backward()
        step.step()
    assert head_cosine(model.heads).item() < exact
    assert all(weight.grad is None for weight in model.trunk.parameters())


# --- where gradients flow ---


def batch():
    images = torch.from_numpy(np.random.default_rng(8).random((8, reference.D)))
    return images, torch.tensor([1, 2, 0, 0, 0, 2, 1, 1])


def source():
    return NoiseSource(Gaussian(0.5), generator_for(3, 0, "test"))


def loss_of(objective, model):
    return torch.stack([*objective.loss(Step(model, *batch(), source(), Moment())).values()]).sum()


@pytest.mark.parametrize("kind", [SomeGaussian, SomeConsistency])
@pytest.mark.parametrize("k", range(reference.HEADS))
def test_no_head_gets_a_gradient_through_the_weights_it_gives(kind, k):
    """With every other head's own loss gone, moving head k changes nothing but its own loss."""
    model = network_of_heads(1.5)
    objective = kind(cosine=0.0, threshold=0.5)
    (images, labels), draws = batch(), source()
    copies = draws.copies(images, objective.m)
    logits = model.head_logits(copies.flatten(0, 1)).reshape(objective.m, 8, reference.HEADS, -1)
    losses = -logits.log_softmax(-1).gather(-1, labels.reshape(1, 8, 1, 1).expand(objective.m, 8, 3, 1))
    fixed = objective.image_weights(losses.squeeze(-1).mean(0).T.detach(), reference.CLASSES, Moment())
    assert 0 < (fixed < 1).sum() < fixed.numel()
    loss_of(objective, model).backward()
    found = model.heads[k].weight.grad.clone()

    alone = kind(cosine=0.0, teacher="none")
    model.zero_grad()
    # The same loss with weights that are plain numbers: all of the gradient must be there.
    object.__setattr__(alone, "image_weights", lambda *_: fixed)
    loss_of(alone, model).backward()
    torch.testing.assert_close(found, model.heads[k].weight.grad, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", METHODS.values())
def test_the_trunk_learns_from_every_head(kind):
    """Silencing any one head changes the trunk's gradient."""
    gradients = []
    for silent in (None, *range(reference.HEADS)):
        model = network_of_heads(1.5)
        if silent is not None:
            model.heads[silent].register_forward_hook(lambda module, inputs, output: output.detach())
        loss_of(kind(cosine=0.0), model).backward()
        gradients.append(model.trunk[0].weight.grad.clone())
    for other in gradients[1:]:
        assert (gradients[0] - other).abs().max() > 1e-4


# --- refusals and configuration ---


@pytest.mark.parametrize("kind", METHODS.values())
@pytest.mark.parametrize(
    "model, found",
    [(nn.Linear(5, 3), "Linear"), (MultiHead(nn.Identity(), [nn.Linear(5, 3)]), "a MultiHead of 1")],
)
def test_a_model_without_heads_to_teach_is_refused(kind, model, found):
    with pytest.raises(InvalidArgumentError, match=rf"at least 2, got {found}; .*heads=5"):
        kind().loss(Step(model.double(), *batch(), source(), Moment()))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("heads", [None, 1])
def test_a_configuration_without_heads_to_teach_is_refused(method, heads):
    with pytest.raises(
        InvalidArgumentError, match=rf"method '{method}' needs 2 heads or more, got heads={heads}; .*heads=5"
    ):
        TrainConfig(method=method, heads=heads)
    assert TrainConfig(method=method, heads=2).objective() == METHODS[method]()


def test_defaults_are_the_paper_s():
    objective = SomeGaussian()
    assert (objective.m, objective.teacher, objective.weights, objective.cosine) == (2, "previous", "soft", 1)
    assert objective.teacher_weight
    assert objective.pace == "logarithmic"
    assert not SomeSmoothMix().mask


WRONG = [
    ("m", (0, 1.5, True)),
    ("teacher", ("next", "", None)),
    ("weights", ("Soft", None)),
    ("threshold", (0, -1.0, math.inf, "1")),
    ("pace", ("linear",)),
    ("teacher_weight", ("no", 1)),
    ("cosine", (-1, math.nan)),
]


@pytest.mark.parametrize("kind", METHODS.values())
@pytest.mark.parametrize("name, value", [(name, value) for name, values in WRONG for value in values])
def test_refuses_a_wrong_setting_by_name_and_value(kind, name, value):
    with pytest.raises(InvalidArgumentError) as caught:
        kind(**{name: value})
    assert str(caught.value).startswith(f"{name} must be ")
    assert str(caught.value).endswith(f"got {value!r}")


@pytest.mark.parametrize(
    "kind, name, value",
    [
        (SomeConsistency, "m", 1),
        (SomeConsistency, "lbd", -1),
        (SomeConsistency, "variant", "l2"),
        (SomeSmoothMix, "steps", 0),
        (SomeSmoothMix, "step_size", 0),
        (SomeSmoothMix, "eta", -5),
        (SomeSmoothMix, "one_step", "yes"),
        (SomeSmoothMix, "mask", "yes"),
    ],
)
def test_refuses_a_wrong_setting_of_the_loss_below(kind, name, value):
    with pytest.raises(InvalidArgumentError, match=rf"^{name} must be .*got {value!r}$"):
        kind(**{name: value})
