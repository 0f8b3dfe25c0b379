"""Every objective against the reference in NumPy: its loss, and its gradient at the weights."""

import numpy as np
import pytest
import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import Gaussian
from smoothcert.seeding import generator_for
from smoothcert.training import Moment, NoiseSource, Step
from smoothcert.training.objectives.advmacer import AdvMacer
from smoothcert.training.objectives.consistency import Consistency
from smoothcert.training.objectives.consistency_smoothadv import ConsistencySmoothAdv
from smoothcert.training.objectives.gaussian import GaussianAugmentation
from smoothcert.training.objectives.macer import Macer
from smoothcert.training.objectives.smoothadv import SmoothAdv
from smoothcert.training.objectives.smoothmix import SmoothMix
from smoothcert.training.objectives.stability import StabilityTraining
from smoothcert.training.objectives.standard import StandardTraining
from training import objective_reference as reference
from training.tiny_networks import LABELS, ROWS, SIGMA, plain_network, the_images, the_source, theta_of

ATTACK = {"m": 3, "steps": 3, "eps": 0.2}
MACER = {"lbd": 3.0, "gamma": 1.5, "beta": 2.0}


def the_noise(m):
    """The noise that an objective draws first, (m, ROWS, D)."""
    return the_source().offsets(torch.from_numpy(the_images(reference)), m).numpy()


def the_shares(m):
    """What SmoothMix draws after its noise: l ~ U[0, 1/2] per image."""
    source = the_source()
    source.offsets(torch.from_numpy(the_images(reference)), m)
    return source.uniform(ROWS, torch.device("cpu")).double().numpy() / 2


def compare(objective, of_image, moment=None):
    """Compare with the mean of `of_image(theta, k)` over the images."""
    model = plain_network()
    labels = torch.from_numpy(LABELS)
    parts = objective.loss(
        Step(model, torch.from_numpy(the_images(reference)), labels, the_source(), moment or Moment())
    )
    loss = torch.stack([*parts.values()]).sum()
    loss.backward()
    found = np.concatenate([weight.grad.numpy().ravel() for weight in model.parameters()])

    def expected(theta):
        return np.mean([of_image(theta, k) for k in range(ROWS)])

    theta = theta_of(model)
    assert loss.item() == pytest.approx(expected(theta), rel=1e-6, abs=1e-7)
    np.testing.assert_allclose(found, reference.differences(expected, theta), rtol=1e-5, atol=1e-6)
    assert abs(found).max() > 1e-3
    return {name: value.item() for name, value in parts.items()}


def adversaries(eps, m, steps):
    """The adversarial images of the reference at the first weights."""
    theta, noise = theta_of(plain_network()), the_noise(m)
    return [
        reference.pgd(theta, x, label, noise[:, k], eps, steps)
        for k, (x, label) in enumerate(zip(the_images(reference), LABELS, strict=True))
    ]


def test_standard():
    none = np.zeros((1, reference.D))
    compare(
        StandardTraining(),
        lambda theta, k: reference.cross_entropy(theta, the_images(reference)[k], LABELS[k], none),
    )


def test_gaussian():
    noise = the_noise(1)
    compare(
        GaussianAugmentation(),
        lambda theta, k: reference.cross_entropy(theta, the_images(reference)[k], LABELS[k], noise[:, k]),
    )


@pytest.mark.parametrize("lbd", [2.0, 0.0, 0.7])
def test_stability(lbd):
    noise = the_noise(1)
    compare(
        StabilityTraining(lbd=lbd),
        lambda theta, k: reference.stability(theta, the_images(reference)[k], LABELS[k], noise[:, k], lbd),
    )


@pytest.mark.parametrize("settings", [{}, {"m": 3, "lbd": 4.0, "eta": 0.1}, {"lbd": 0.0}])
def test_consistency(settings):
    objective = Consistency(**settings)
    noise = the_noise(objective.m)
    parts = compare(
        objective,
        lambda theta, k: reference.consistency(
            theta, the_images(reference)[k], LABELS[k], noise[:, k], objective.lbd, objective.eta
        ),
    )
    assert list(parts) == ["cross_entropy", "consistency", "entropy"]


def test_consistency_without_entropy():
    noise = the_noise(2)
    parts = compare(
        Consistency(variant="kl-only", lbd=4.0, eta=0.5),
        lambda theta, k: reference.consistency(
            theta, the_images(reference)[k], LABELS[k], noise[:, k], 4.0, 0.0
        ),
    )
    assert list(parts) == ["cross_entropy", "consistency"]


@pytest.mark.parametrize("m", [2, 4])
def test_consistency_by_squared_distance(m):
    noise = the_noise(m)
    compare(
        Consistency(variant="mse", m=m, lbd=4.0),
        lambda theta, k: reference.consistency_mse(
            theta, the_images(reference)[k], LABELS[k], noise[:, k], 4.0
        ),
    )


def test_consistency_clamps_logarithms_at_1e_20():
    """Two copies sure of different classes, by a gap of 60: each log stops at 1e-20, so KL = log(1/2) + 10 log 10."""

    class Sure(nn.Module):
        def forward(self, batch):
            first = torch.arange(len(batch)) < len(batch) // 2
            return torch.where(
                first.unsqueeze(1), torch.tensor([60.0, 0.0]), torch.tensor([0.0, 60.0])
            ).double()

    images = torch.zeros(3, 1, dtype=torch.float64)
    source = NoiseSource(Gaussian(SIGMA), generator_for(3, 0, "test"))
    objective = Consistency(lbd=1.0, eta=1.0)
    parts = objective.loss(Step(Sure(), images, torch.zeros(3, dtype=torch.int64), source, Moment()))
    assert parts["consistency"].item() == pytest.approx(np.log(0.5) - 0.5 * np.log(1e-20), rel=1e-12)
    assert parts["entropy"].item() == pytest.approx(np.log(2), rel=1e-12)


@pytest.mark.parametrize("warm", [1.0, 0.3])
def test_smoothadv(warm):
    noise, found = the_noise(3), adversaries(0.2 * warm, 3, 3)
    compare(
        SmoothAdv(**ATTACK),
        lambda theta, k: reference.cross_entropy(theta, found[k], LABELS[k], noise[:, k]),
        Moment(warm=warm),
    )


def test_smoothadv_by_ddn_trains_on_ddn_s_images():
    """Wrong images stay as they are and others move by no more than eps: the loss lies between."""
    model, labels, images = plain_network(), torch.from_numpy(LABELS), torch.from_numpy(the_images(reference))
    losses = {
        attack: SmoothAdv(m=3, steps=20, eps=0.3, attack=attack)
        .loss(Step(model, images, labels, the_source(), Moment()))["cross_entropy"]
        .item()
        for attack in ("pgd", "ddn")
    }
    clean = np.mean(
        [
            reference.cross_entropy(theta_of(model), x, label, the_noise(3)[:, k])
            for k, (x, label) in enumerate(zip(the_images(reference), LABELS, strict=True))
        ]
    )
    assert clean + 0.01 < losses["ddn"] < losses["pgd"] - 0.01


@pytest.mark.parametrize("variant", ["kl", "mse"])
def test_consistency_on_smoothadv(variant):
    noise, found = the_noise(3), adversaries(0.2, 3, 3)

    def of_image(theta, k):
        if variant == "mse":
            return reference.consistency_mse(theta, found[k], LABELS[k], noise[:, k], 2.0)
        return reference.consistency(theta, found[k], LABELS[k], noise[:, k], 2.0, 0.3)

    compare(ConsistencySmoothAdv(**ATTACK, lbd=2.0, eta=0.3, variant=variant), of_image)


def test_macer():
    """On images of every kind: right inside the hinge, right beyond it, and wrong; both terms divide by all."""
    noise, theta = the_noise(4), theta_of(plain_network())
    arguments = [(the_images(reference)[k], LABELS[k], noise[:, k]) for k in range(ROWS)]
    margins = np.array([reference.margin(theta, *each, MACER["beta"]) for each in arguments])
    assert ((margins > 0) & (margins < MACER["gamma"])).any()
    assert (margins > MACER["gamma"]).any()
    assert (margins < 0).any()
    parts = compare(
        Macer(m=4, **MACER),
        lambda theta, k: reference.macer(theta, *arguments[k], **MACER, sigma=SIGMA),
    )
    hinge = np.where((margins > 0) & (margins < MACER["gamma"]), MACER["gamma"] - margins, 0).sum()
    assert parts["radius"] == pytest.approx(MACER["lbd"] * SIGMA / 2 * hinge / ROWS)


def test_macer_with_its_published_settings():
    noise = the_noise(16)
    parts = compare(
        Macer(),
        lambda theta, k: reference.macer(
            theta, the_images(reference)[k], LABELS[k], noise[:, k], 12.0, 8.0, 16.0, SIGMA
        ),
    )
    assert parts["radius"] > 0


def test_macer_waits_for_the_first_drop_of_the_learning_rate():
    noise = the_noise(4)
    for deferred, dropped, weight in [(True, False, 0.0), (True, True, 3.0), (False, False, 3.0)]:
        compare(
            Macer(m=4, **MACER, deferred=deferred),
            lambda theta, k, weight=weight: reference.macer(
                theta,
                the_images(reference)[k],
                LABELS[k],
                noise[:, k],
                **{**MACER, "lbd": weight},
                sigma=SIGMA,
            ),
            Moment(dropped=dropped),
        )


@pytest.mark.parametrize("warm", [1.0, 0.5])
def test_advmacer(warm):
    noise, found = the_noise(3), adversaries(0.2 * warm, 3, 3)
    parts = compare(
        AdvMacer(**ATTACK, **MACER),
        lambda theta, k: reference.macer(theta, found[k], LABELS[k], noise[:, k], **MACER, sigma=SIGMA),
        Moment(warm=warm),
    )
    assert parts["radius"] > 0


@pytest.mark.parametrize("warm", [1.0, 0.5])
def test_advmacer_with_noise_drawn_anew_after_the_attack(warm):
    """Algorithm 1 of the paper: step 2 attacks, step 3 draws the noises whose mean answer the loss is made of."""
    source, images = the_source(), torch.from_numpy(the_images(reference))
    first, fresh = source.offsets(images, 3).numpy(), source.offsets(images, 3).numpy()
    assert np.abs(first - fresh).min() > 0
    found = adversaries(0.2 * warm, 3, 3)
    parts = compare(
        AdvMacer(**ATTACK, **MACER, fresh_noise=True),
        lambda theta, k: reference.macer(theta, found[k], LABELS[k], fresh[:, k], **MACER, sigma=SIGMA),
        Moment(warm=warm),
    )
    assert parts["radius"] > 0


@pytest.mark.parametrize("fresh_noise", [False, True])
def test_advmacer_attacks_and_learns_under_equal_or_different_noise(fresh_noise):
    """A network that writes down what it is shown: at a zero gradient every copy is the image plus its noise."""
    seen = []

    class Witness(nn.Module):
        def forward(self, batch):
            seen.append(batch.detach().clone())
            return torch.zeros(len(batch), 3, dtype=batch.dtype) + 0 * batch.sum()

    images, labels = torch.from_numpy(the_images(reference)), torch.from_numpy(LABELS)
    objective = AdvMacer(**{**ATTACK, "steps": 2}, fresh_noise=fresh_noise)
    objective.loss(Step(Witness(), images, labels, the_source(), Moment()))
    assert len(seen) == 3  # two gradients, one training pass: drawing anew costs no pass
    noises = [batch.reshape(3, ROWS, -1) - images for batch in seen]
    assert torch.equal(noises[0], noises[1])
    if fresh_noise:
        assert (noises[2] - noises[0]).abs().min() > 0
    else:
        assert torch.equal(noises[2], noises[0])


def test_drawing_anew_is_a_switch():
    assert AdvMacer(fresh_noise=True).cost == AdvMacer().cost
    with pytest.raises(InvalidArgumentError, match="fresh_noise must be True or False, got 'yes'"):
        AdvMacer(fresh_noise="yes")


def test_advmacer_waits_too():
    noise, found = the_noise(3), adversaries(0.2, 3, 3)
    for dropped, weight in [(False, 0.0), (True, 3.0)]:
        compare(
            AdvMacer(**ATTACK, **MACER, deferred=True),
            lambda theta, k, weight=weight: reference.macer(
                theta, found[k], LABELS[k], noise[:, k], **{**MACER, "lbd": weight}, sigma=SIGMA
            ),
            Moment(dropped=dropped),
        )


@pytest.mark.parametrize("one_step", [False, True])
@pytest.mark.parametrize("warm", [1.0, 0.4])
def test_smoothmix(one_step, warm):
    """Wrong images add 0 and stay in the mean; the 1-step adversary is warm times alpha away."""
    theta, noise, shares = theta_of(plain_network()), the_noise(2), the_shares(2)
    assert 0 <= shares.min() < shares.max() < 0.5
    arguments = [
        (x, label, noise[:, k])
        for k, (x, label) in enumerate(zip(the_images(reference), LABELS, strict=True))
    ]
    far = [reference.far_away(theta, *each, 0.3, 3) for each in arguments]
    centres = [reference.far_away(theta, *each, warm * 0.3, 1) if one_step else each[0] for each in arguments]
    right = [
        reference.z(theta, centre, noise[:, k]).argmax() == LABELS[k] for k, centre in enumerate(centres)
    ]
    assert 0 < sum(right) < ROWS
    parts = compare(
        SmoothMix(m=2, steps=3, step_size=0.3, eta=2.0, one_step=one_step),
        lambda theta, k: reference.smoothmix(
            theta, centres[k], far[k], LABELS[k], noise[:, k], shares[k], 2.0 * warm
        ),
        Moment(warm=warm),
    )
    assert parts["mixed"] > 0
