"""The parts of the loop against closed forms: schedule, loss, noisy accuracy."""

import math

import numpy as np
import pytest
import torch
from scipy.special import log_softmax, ndtr
from torch import nn

from smoothcert.data import Dataset
from smoothcert.networks import MultiHead
from smoothcert.noise import Gaussian
from smoothcert.seeding import generator_for
from smoothcert.training import SCHEDULES, Moment, NoiseSource, Step, TrainConfig, noisy_accuracy, run_epochs
from smoothcert.training.accuracy import head_accuracies
from smoothcert.training.batches import chosen_images
from smoothcert.training.learning_rate import has_dropped
from smoothcert.training.materials import Materials
from smoothcert.training.objectives.gaussian import GaussianAugmentation
from truth import CENTRE, HalfSpace


def learning_rate(step, steps, peak):
    return peak * SCHEDULES["one-cycle"](step, steps, ())


@pytest.mark.parametrize("steps", [1, 10, 360])
def test_one_cycle_rises_then_falls_and_stays_positive(steps):
    rates = [learning_rate(step, steps, 0.1) for step in range(steps)]
    top = int(np.argmax(rates))
    assert all(0 < rate <= 0.1 for rate in rates)
    assert rates[: top + 1] == sorted(rates[: top + 1])
    assert rates[top:] == sorted(rates[top:], reverse=True)


def test_one_cycle_peaks_at_three_tenths():
    assert learning_rate(29, 100, 0.1) == pytest.approx(0.1)
    assert learning_rate(14, 100, 0.1) == pytest.approx(0.05)
    # halfway down the cosine, which reaches 0 at step 100
    assert learning_rate(49, 70, 0.1) == pytest.approx(0.1 * (1 + math.cos(math.pi * 29 / 50)) / 2)
    assert learning_rate(99, 100, 0.1) < 1e-4


def test_gaussian_objective_is_cross_entropy_of_one_noisy_copy():
    model = nn.Linear(3, 4)
    images = torch.rand(5, 3, generator=torch.Generator().manual_seed(0))
    labels = torch.tensor([0, 3, 1, 1, 2])
    source = NoiseSource(Gaussian(0.5), generator_for(1, 2, "t"))
    parts = GaussianAugmentation().loss(Step(model, images, labels, source, Moment()))
    noise = torch.empty(5, 3).normal_(0.0, 0.5, generator=generator_for(1, 2, "t")).numpy()
    logits = (images.numpy() + noise) @ model.weight.detach().numpy().T + model.bias.detach().numpy()
    expected = -log_softmax(logits, axis=1)[np.arange(5), labels.numpy()].mean()
    assert list(parts) == ["cross_entropy"]
    assert parts["cross_entropy"].item() == pytest.approx(expected, rel=1e-5)
    assert parts["cross_entropy"].requires_grad


def test_fit_learns_a_line_without_torch_s_global_generator():
    points = np.linspace(-1, 1, 50, dtype=np.float32)[:, None]
    dataset = Dataset.from_arrays(points, (points[:, 0] > 0).astype(np.int64))
    model = nn.Linear(1, 2)
    state = torch.random.get_rng_state()
    state_at_end = run_epochs(
        model,
        Materials(dataset, dataset),
        config=TrainConfig(epochs=30, lr=1.0, batch_size=7, sigma=0.01),
        seed=3,
    )
    last = state_at_end.metrics[-1]
    assert torch.equal(torch.random.get_rng_state(), state)
    assert not model.training
    assert last.epoch == 30
    assert last.holdout_noisy_accuracy > 0.95


def test_step_schedule_divides_by_ten_at_each_milestone():
    rates = [SCHEDULES["step"](step, 90, (1 / 3, 2 / 3)) for step in range(90)]
    assert rates == pytest.approx([1.0] * 30 + [0.1] * 30 + [0.01] * 30)
    assert [has_dropped(step, 90, (1 / 3, 2 / 3)) for step in (0, 29, 30, 89)] == [False, False, True, True]


def test_cosine_schedule_starts_at_the_peak_and_ends_near_nothing():
    rates = [SCHEDULES["cosine"](step, 100, ()) for step in range(100)]
    assert rates[0] == 1.0
    assert rates[50] == pytest.approx(0.5)
    assert 0 < rates[-1] < 1e-3
    assert rates == sorted(rates, reverse=True)


def test_a_subset_of_the_training_images_is_fixed_and_not_the_first_ones():
    chosen = chosen_images(1000, 100)
    assert len(set(chosen.tolist())) == 100
    assert chosen.tolist() == chosen_images(1000, 100).tolist() == sorted(chosen)
    assert chosen.max() > 500
    assert chosen_images(10, 100).tolist() == list(range(10))


def test_each_process_draws_the_same_numbers_as_one_alone():
    images = torch.rand(7, 2, 3, generator=torch.Generator().manual_seed(0))
    law = Gaussian(0.5)
    alone = NoiseSource(law, generator_for(0, 0, "t"))
    whole, numbers = alone.copies(images, 3), alone.uniform(7, images.device)
    for mine in (slice(0, 3), slice(3, 7)):
        source = NoiseSource(law, generator_for(0, 0, "t"), first=mine.start, total=7)
        assert torch.equal(source.copies(images[mine], 3), whole[:, mine])
        assert torch.equal(source.uniform(mine.stop - mine.start, images.device), numbers[mine])


def test_offsets_are_the_noise_of_copies():
    images = torch.rand(4, 5, generator=torch.Generator().manual_seed(0))
    noisy = NoiseSource(Gaussian(0.5), generator_for(0, 0, "t")).copies(images, 2)
    noise = NoiseSource(Gaussian(0.5), generator_for(0, 0, "t")).offsets(images, 2)
    assert torch.allclose(images + noise, noisy)


def test_accuracies_of_heads_are_those_of_the_heads_alone():
    points = np.linspace(-1, 1, 90, dtype=np.float32).reshape(30, 3)
    dataset = Dataset.from_arrays(points, np.arange(30) % 2)
    model = MultiHead(nn.Identity(), [nn.Linear(3, 2) for _ in range(3)])
    arguments = (dataset, Gaussian(0.25))

    def draws():
        return {"draws": 5, "generator": generator_for(0, 0, "test")}

    found = head_accuracies(model, *arguments, **draws())
    assert found == tuple(noisy_accuracy(model.head(k), *arguments, **draws()) for k in range(3))
    assert model.training


@pytest.mark.parametrize("mode", [True, False])
def test_noisy_accuracy_of_a_half_space_is_known(mode):
    margins = np.array([0.1, 0.3, -0.2], dtype=np.float32)
    dataset = Dataset.from_arrays(np.repeat(margins, 400)[:, None], np.ones(1200, dtype=np.int64))
    model = HalfSpace(CENTRE).train(mode)
    found = noisy_accuracy(model, dataset, Gaussian(0.25), draws=20, generator=generator_for(0, 0, "test"))
    probabilities = ndtr(margins / 0.25)
    spread = math.sqrt((probabilities * (1 - probabilities)).mean() / 24_000)
    assert abs(found - probabilities.mean()) < 4 * spread
    assert model.training is mode
