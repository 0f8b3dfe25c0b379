"""Accuracy under noise on a hold-out: as many copies as the choice of an epoch needs, in passes that fit."""

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.seeding import generator_for
from smoothcert.training import epochs, holdout_copies
from smoothcert.training.accuracy import noisy_accuracy


class _Watched(nn.Module):
    """Answers by the mean of an image, and keeps the rows of every pass."""

    def __init__(self):
        super().__init__()
        self.rows = []

    def forward(self, batch):
        self.rows.append(len(batch))
        mean = batch.flatten(1).mean(dim=1)
        return torch.stack([0.5 - mean, mean - 0.5], dim=1)


def _pictures(count, side):
    values = np.random.default_rng(0).integers(100, 156, (count, 3, side, side), dtype=np.uint8)
    return sc.Dataset.from_arrays(values, np.arange(count) % 2)


def _measure(dataset, draws, **kwargs):
    model = _Watched()
    stream = generator_for(1, 0, "holdout-noise")
    found = noisy_accuracy(model, dataset, sc.Gaussian(0.5), draws=draws, generator=stream, **kwargs)
    return found, model.rows


@pytest.mark.parametrize(("images", "copies"), [(24, 10), (200, 10), (201, 9), (1_000, 2), (5_000, 1)])
def test_copies_of_a_few_images_are_not_multiplied_without_end(images, copies):
    assert holdout_copies(images) == copies


def test_copies_beyond_ten_hardly_tell_more():
    # The variance of the accuracy over hold-outs and noises: 83 copies of 24 images, as were drawn once, against 10.
    draws = np.random.default_rng(3)
    chances = draws.beta(
        0.6, 0.25, (20_000, 24)
    )  # of being classified right: images are mostly sure or hopeless
    spread = {copies: draws.binomial(copies, chances).mean(axis=1).std() / copies for copies in (10, 83)}
    assert spread[10] < 1.04 * spread[83]


def test_large_pictures_go_through_in_parts_on_the_same_noise(monkeypatch):
    large = _pictures(40, 224)
    right, rows = _measure(large, 2)
    assert max(rows) <= 16
    assert sum(rows) == 80
    monkeypatch.setattr("smoothcert.training.accuracy._VALUES", 10**9)
    whole, together = _measure(large, 2)
    assert together == [40, 40]
    assert right == whole


def test_small_pictures_are_not_split():
    assert _measure(_pictures(501, 8), 1)[1] == [500, 1]


def test_progress_is_told_up_to_the_end():
    told = []
    _measure(_pictures(40, 8), 3, on_copies=lambda done, of: told.append((done, of)))
    assert told == [(40, 120), (80, 120), (120, 120)]


def test_a_training_says_that_it_measures(tmp_path, monkeypatch):
    notes = []

    class _Noted:
        def __call__(self, done, note):
            notes.append((done, note))

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(epochs, "progress", lambda *args, **kwargs: _Noted())
    sc.train(
        {"epochs": 1, "seed": 1, "batch_size": 256, "certify_every": 1, "certify_images": 2}, tmp_path / "a"
    )
    steps = max(done for done, _ in notes)
    assert (steps, "epoch 1 of 1, 2,000 of 2,000 noisy hold-out images classified") in notes
    assert (steps, "epoch 1 of 1, certifying 2 hold-out images") in notes
