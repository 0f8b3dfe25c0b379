"""Every attack through the same laws: hurts, stays in its bounds, leaves the network as found."""

import functools

import pytest
import torch
from torch import nn

from smoothcert.attacks import ATTACKS, attacked, free_steps, noisy_logits, smoothed_loss
from smoothcert.data import load_dataset
from smoothcert.seeding import generator_for

EPS, SIGMA, M = 0.8, 0.25, 4


def free(model, images, labels, offsets, *, eps, steps):
    """Free steps as an attack within a ball: T steps of length eps / T cannot go further than eps."""
    return free_steps(model, images, labels, offsets, step_size=eps / steps, steps=steps)[0]


ALL = {**{name: ATTACKS[name] for name in ATTACKS}, "free": free}
every_attack = pytest.mark.parametrize("attack", ALL.values(), ids=ALL.keys())


@pytest.fixture(scope="module")
def victim():
    """A network with batch norm and dropout that has learnt the noisy digits, 200 images and their noise."""
    digits = load_dataset("digits", "train")
    everything, answers = digits.batch(range(len(digits))), torch.tensor(digits.labels)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = nn.Sequential(
            nn.Flatten(), nn.Linear(64, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 10)
        )
        optimizer = torch.optim.Adam(model.parameters(), 0.01)
        for _ in range(60):
            optimizer.zero_grad()
            noisy = everything + SIGMA * torch.randn_like(everything)
            nn.functional.cross_entropy(model(noisy), answers).backward()
            optimizer.step()
    model[2].eval()  # a submodule whose mode differs from the others': it must come back that way
    model[1].bias.requires_grad_(False)
    model[5].bias.grad = None
    images = everything[:200]
    offsets = torch.empty(M, *images.shape).normal_(0, SIGMA, generator=generator_for(0, 0, "test"))
    return model, images, answers[:200], offsets


def state_of(model):
    """All that an attack may not change, gradients by identity."""
    return (
        [module.training for module in model.modules()],
        [(weight.requires_grad, id(weight.grad)) for weight in model.parameters()],
        [None if weight.grad is None else weight.grad.clone() for weight in model.parameters()],
        {name: value.clone() for name, value in model.state_dict().items()},
    )


def assert_as_found(model, found):
    modes, flags, gradients, values = state_of(model)
    assert modes == found[0]
    assert flags == found[1]
    for now, before in zip(gradients, found[2], strict=True):
        assert (now is None) == (before is None)
        assert now is None or torch.equal(now, before)
    assert all(torch.equal(values[name], before) for name, before in found[3].items())


def mean_loss(model, images, labels, offsets):
    with attacked(model), torch.no_grad():
        return float(smoothed_loss(noisy_logits(model, images, offsets), labels).mean())


@every_attack
@pytest.mark.parametrize("steps", [1, 8])
def test_raises_the_smoothed_loss_inside_ball_and_box(attack, steps, victim):
    model, images, labels, offsets = victim
    before = images.clone()
    found = attack(model, images, labels, offsets, eps=EPS, steps=steps)
    assert torch.equal(images, before)
    assert found.shape == images.shape
    assert not found.requires_grad
    assert float((found - images).flatten(1).norm(dim=1).max()) <= EPS * (1 + 1e-6)
    assert float(found.min()) >= 0
    assert float(found.max()) <= 1
    clean = mean_loss(model, images, labels, offsets)
    assert mean_loss(model, found, labels, offsets) > clean + (0.3 if attack is not ATTACKS["ddn"] else 0.1)
    random = torch.randn(images.shape, generator=generator_for(1, 0, "test"))
    random = images + EPS * random / random.flatten(1).norm(dim=1).reshape(-1, 1, 1, 1)
    assert mean_loss(model, found, labels, offsets) > mean_loss(model, random.clamp(0, 1), labels, offsets)


@every_attack
@pytest.mark.parametrize("mode", [True, False])
def test_leaves_the_network_as_found(attack, mode, victim):
    model, images, labels, offsets = victim
    modes = [module.training for module in model.modules()]
    model[4].train(mode)
    found = state_of(model)
    attack(model, images[:8], labels[:8], offsets[:, :8], eps=EPS, steps=3)
    assert_as_found(model, found)
    for module, flag in zip(model.modules(), modes, strict=True):
        module.training = flag


@every_attack
def test_leaves_the_network_as_found_when_it_raises(attack, victim):
    model, images, labels, offsets = victim
    calls = []

    def give_up(module, inputs):
        assert not any(part.training for part in model.modules())
        assert not any(weight.requires_grad for weight in model.parameters())
        calls.append(1)
        if len(calls) == 3:
            model[5].bias.grad = torch.ones(10)
            raise RuntimeError("out of memory, say")

    found = state_of(model)
    handle = model[5].register_forward_pre_hook(give_up)
    try:
        with pytest.raises(RuntimeError, match="out of memory"):
            attack(model, images[:8], labels[:8], offsets[:, :8], eps=EPS, steps=5)
    finally:
        handle.remove()
    assert len(calls) == 3
    assert_as_found(model, found)


@every_attack
def test_an_image_s_attack_does_not_depend_on_its_neighbours(attack, victim):
    model, images, labels, offsets = victim
    run = functools.partial(attack, eps=EPS, steps=3)
    together = run(model.double(), images.double(), labels, offsets.double())
    apart = [run(model, images[k::2].double(), labels[k::2], offsets[:, k::2].double()) for k in (0, 1)]
    model.float()
    torch.testing.assert_close(together[0::2], apart[0], rtol=0, atol=1e-9)
    torch.testing.assert_close(together[1::2], apart[1], rtol=0, atol=1e-9)


class Constant(nn.Module):
    """Logits that depend on the image by nothing: the gradient is zero."""

    def forward(self, batch):
        return 0 * batch.flatten(1).sum(dim=1, keepdim=True) + torch.tensor([2.0, 1.0, 0.0])


@every_attack
def test_a_zero_gradient_moves_nowhere(attack):
    images = torch.rand(3, 5, generator=generator_for(2, 0, "test"))
    found = attack(Constant(), images, torch.tensor([0, 1, 2]), torch.zeros(2, 3, 5), eps=0.5, steps=4)
    assert torch.equal(found, images)


@every_attack
def test_a_very_small_gradient_still_has_a_direction(attack):
    """Gradients of 1e-30 have squares that float32 cannot hold."""
    model = nn.Linear(2, 2, bias=False)
    model.weight.data = torch.tensor([[35.0, 0.0], [-35.0, 0.0]])
    images = torch.tensor([[1.0, 0.5]])
    found = attack(model, images, torch.tensor([0]), torch.zeros(1, 1, 2), eps=0.5, steps=1)
    torch.testing.assert_close(found, torch.tensor([[0.5, 0.5]]))


@every_attack
def test_works_inside_a_training_step_under_autocast(attack, victim):
    """Autocast keeps cast weights for later passes: an attack may neither use up their graph nor leave its own."""
    model, images, labels, offsets = victim
    model.zero_grad()

    def gradients(with_attack):
        torch.manual_seed(3)  # the dropout of the training pass
        with torch.random.fork_rng(devices=[]), torch.autocast("cpu", torch.bfloat16):
            loss = nn.functional.cross_entropy(model(images), labels)
            if with_attack:
                with torch.no_grad():  # an attack turns gradients on for itself
                    found = attack(model, images, labels, offsets, eps=EPS, steps=2)
                assert found.dtype == torch.float32
                assert float((found - images).flatten(1).norm(dim=1).max()) > 0.1
        loss.backward()
        taken = [weight.grad for weight in model.parameters()]
        model.zero_grad()
        return taken

    state = torch.random.get_rng_state()
    for one, other in zip(gradients(False), gradients(True), strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other)
    torch.random.set_rng_state(state)
