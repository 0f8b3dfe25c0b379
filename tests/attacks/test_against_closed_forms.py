"""Attacks and their loss against closed forms and a reference in NumPy."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn

from smoothcert.attacks import ddn, free_steps, noisy_logits, pgd, smoothed_loss
from smoothcert.attacks.methods.ddn import vote_is_wrong
from smoothcert.seeding import generator_for


def linear(weights):
    model = nn.Linear(len(weights[0]), len(weights), bias=False).double()
    model.weight.data = torch.tensor(weights, dtype=torch.float64)
    return model


def test_smoothed_loss_is_the_log_of_the_mean_probability():
    logits = np.random.default_rng(0).normal(0, 3, (4, 5, 3))
    labels = np.array([0, 2, 1, 1, 0])
    expected = -np.log(softmax(logits, axis=-1).mean(axis=0)[np.arange(5), labels])
    found = smoothed_loss(torch.from_numpy(logits), torch.from_numpy(labels))
    np.testing.assert_allclose(found.numpy(), expected, rtol=1e-12)


def test_smoothed_loss_of_hopeless_images_is_finite_with_a_gradient():
    logits = torch.tensor([[[-1e4, 0.0]], [[-2e4, 0.0]]], requires_grad=True)
    loss = smoothed_loss(logits, torch.tensor([0]))
    loss.sum().backward()
    assert loss.item() == pytest.approx(1e4 + np.log(2), rel=1e-6)
    assert logits.grad[0, 0].tolist() == pytest.approx([-1.0, 1.0])


def test_noisy_logits_are_never_clipped_and_in_the_order_of_the_copies():
    offsets = torch.tensor([[[5.0], [-7.0]], [[0.0], [1.0]]])
    logits = noisy_logits(nn.Identity(), torch.tensor([[0.5], [1.0]]), offsets)
    assert logits.squeeze(-1).tolist() == [[5.5, -6.0], [0.5, 2.0]]


def reference_pgd(weights, image, label, offsets, eps, steps):
    """PGD of a linear softmax model on one image, its gradient by hand: sum of w_y - w_k, weighted by p_i."""
    x = image.copy()
    for _ in range(steps):
        p = softmax((x + offsets) @ weights.T, axis=1)
        share = p[:, label] / p[:, label].sum()
        gradient = (share[:, None] * (p - np.eye(len(weights))[label])).sum(axis=0) @ weights
        moved = x + 2 * eps / steps * gradient / np.linalg.norm(gradient) - image
        moved *= min(1, eps / np.linalg.norm(moved))
        x = np.clip(image + moved, 0, 1)
    return x


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_pgd_is_the_reference(steps):
    rng = np.random.default_rng(1)
    weights, images = rng.normal(0, 2, (3, 6)), rng.random((4, 6))
    labels, offsets = np.array([0, 1, 2, 0]), rng.normal(0, 0.5, (5, 4, 6))
    found = pgd(
        linear(weights), *map(torch.from_numpy, (images, labels, offsets)), eps=0.3, steps=steps
    ).numpy()
    for k in range(4):
        expected = reference_pgd(weights, images[k], labels[k], offsets[:, k], 0.3, steps)
        np.testing.assert_allclose(found[k], expected, atol=1e-10)


def test_free_steps_have_their_length_and_no_ball():
    model = linear([[0.0, 0.0, 0.0], [3.0, 4.0, 0.0]])
    image, label = torch.full((1, 3), 0.1, dtype=torch.float64), torch.tensor([0])
    offsets = torch.zeros(2, 1, 3, dtype=torch.float64)
    moved, one_step = free_steps(model, image, label, offsets, step_size=0.2, steps=4, first=0.05)
    torch.testing.assert_close(moved - image, torch.tensor([[0.48, 0.64, 0.0]], dtype=torch.float64))
    torch.testing.assert_close(one_step - image, torch.tensor([[0.03, 0.04, 0.0]], dtype=torch.float64))
    assert torch.equal(
        free_steps(model, image, label, offsets, step_size=0.2, steps=1)[0],
        free_steps(model, image, label, offsets, step_size=0.2, steps=3)[1],
    )
    far, _ = free_steps(model, image, label, offsets, step_size=0.9, steps=9)
    assert far.tolist() == [[1.0, 1.0, pytest.approx(0.1)]]


@pytest.mark.parametrize("levels", [None, 256])
def test_ddn_finds_the_distance_of_a_half_space(levels):
    """Noise-free and linear: the nearest wrong point lies margin / ||w|| away, well inside eps."""
    rng = np.random.default_rng(2)
    w = rng.normal(0, 1, 20)
    images = torch.from_numpy(np.round(255 * rng.uniform(0.3, 0.7, (30, 20))) / 255)
    centre = 0.5 * w.sum()
    margins = (images.numpy() @ w - centre) / np.linalg.norm(w)
    model = nn.Linear(20, 2).double()
    model.weight.data = torch.from_numpy(np.stack([np.zeros(20), w]))
    model.bias.data = torch.tensor([0.0, -centre], dtype=torch.float64)
    labels = torch.from_numpy((margins > 0).astype(np.int64))
    offsets = torch.zeros(3, 30, 20, dtype=torch.float64)
    found = ddn(model, images, labels, offsets, eps=1.5, steps=150, levels=levels)
    assert (model(found).argmax(dim=1) != labels).all()
    lengths = (found - images).norm(dim=1).numpy()
    assert (lengths >= abs(margins)).all()
    slack = 0.06 if levels is None else 0.2  # gamma is .05; on levels, one level more on every pixel
    assert (lengths <= abs(margins) * (1 + slack) + (0 if levels is None else 0.01)).all()
    assert np.median(lengths) < 0.5 * 1.5
    if levels is not None:
        np.testing.assert_allclose(found.numpy() * 255, np.round(found.numpy() * 255), atol=1e-9)


def test_ddn_leaves_wrong_images_and_gives_the_eps_point_for_unbreakable_ones():
    model = linear([[0.0, 0.0], [1.0, 0.0]])
    images = torch.tensor([[0.2, 0.5], [0.9, 0.5]], dtype=torch.float64)
    found = ddn(
        model, images, torch.tensor([0, 1]), torch.zeros(1, 2, 2, dtype=torch.float64), eps=0.25, steps=20
    )
    assert torch.equal(found[0], images[0])  # class 1 already, though labelled 0
    torch.testing.assert_close(found[1], torch.tensor([0.65, 0.5], dtype=torch.float64))


def test_ddn_norm_grows_while_right_and_shrinks_when_wrong():
    """Far inside, T steps from norm n end at n (1 + gamma)^T; at the boundary the norm falls below its start."""
    model = linear([[0.0, 0.0], [1.0, 0.0]])
    model.bias = nn.Parameter(torch.tensor([0.1, 0.0], dtype=torch.float64))
    image = torch.tensor([[0.9, 0.5]], dtype=torch.float64)
    settings = {"eps": 2.0, "first_norm": 0.1, "gamma": 0.1}
    offsets = torch.zeros(1, 1, 2, dtype=torch.float64)
    found = ddn(model, image, torch.tensor([1]), offsets, steps=4, **settings)
    assert float((image - found).norm()) == pytest.approx(0.1 * 1.1**4)
    settings["first_norm"] = 0.88
    found = ddn(model, image, torch.tensor([1]), offsets, steps=10, **settings)
    assert 0.8 <= float((image - found).norm()) < 0.88


@pytest.mark.parametrize("levels", [None, 256])
def test_ddn_never_looks_outside_its_ball(levels):
    """On levels too, where rounding to nearest would leave a ball of about half a level per pixel."""
    rng = np.random.default_rng(4)
    images, eps = torch.full((1, 100), 128 / 255, dtype=torch.float64), 0.6 / 255 * 10
    w, seen = rng.uniform(0.09, 0.11, 100), []
    model = linear(np.stack([-w, w]))
    model.register_forward_pre_hook(
        lambda _, inputs: seen.append(float((inputs[0].detach() - images).norm()))
    )
    offsets = torch.zeros(1, 1, 100, dtype=torch.float64)
    found = ddn(model, images, torch.tensor([1]), offsets, eps=eps, steps=12, levels=levels)
    assert len(seen) == 12
    assert levels is not None or max(seen) > 0.99 * eps
    assert max(seen) <= eps * (1 + 1e-12)
    assert float((found - images).norm()) <= eps * (1 + 1e-12)
    if levels is not None:
        np.testing.assert_allclose(found.numpy() * 255, np.round(found.numpy() * 255), atol=1e-9)


def test_a_vote_is_wrong_only_when_another_class_has_more():
    votes = torch.tensor([[0, 0, 1], [0, 1, 1], [1, 2, 2], [2, 2, 2]]).T  # (copies, rows)
    logits = nn.functional.one_hot(votes, 3).double()
    assert vote_is_wrong(logits, torch.tensor([0, 0, 1, 2])).tolist() == [False, True, True, False]
    tie = nn.functional.one_hot(torch.tensor([[0], [1]]), 3).double()
    for label in (0, 1):
        assert not vote_is_wrong(tie, torch.tensor([label]))


def test_noise_moves_the_attack():
    """The attack sees the noise: another draw, another point."""
    model, image = linear([[0.0, 0.0, 0.0], [3.0, -1.0, 2.0], [1.0, 2.0, -2.0]]), torch.full((1, 3), 0.5)
    found = [
        pgd(
            model,
            image.double(),
            torch.tensor([0]),
            torch.empty(1, 1, 3).normal_(0, 1, generator=generator_for(k, 0, "test")).double(),
            eps=0.2,
            steps=2,
        )
        for k in (0, 1, 0)
    ]
    assert torch.equal(found[0], found[2])
    assert not torch.allclose(found[0], found[1])
