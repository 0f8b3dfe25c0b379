"""MACER's numerical safety: Phi^-1 is infinite at 0 and 1, and no infinity may reach a loss or a gradient."""

import numpy as np
import pytest
import torch
from scipy.special import ndtri

from smoothcert.training.losses.macer_loss import MacerLoss

EQUAL = [[0.0, 0.0, 0.0]]
HUGE = [[1e4, 0.0, -1e4]]
CASES = {
    "equal": (EQUAL * 4, [0, 1, 2, 0]),
    "huge and right": (HUGE * 4, [0, 0, 0, 0]),
    "huge and wrong": (HUGE * 4, [1, 2, 1, 2]),
    "one-hot": ([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]], [0, 1, 2, 0]),
    "a bit of all": ([*EQUAL, *HUGE, [5.0, 4.9, 4.8], [0.0, 1e4, 1e4]], [0, 1, 0, 2]),
    "tie of two at the top": ([[1e4, 1e4, 0.0]] * 4, [0, 1, 2, 0]),
}
settings = pytest.mark.parametrize("gamma, beta", [(8.0, 16.0), (100.0, 16.0), (100.0, 1.0), (8.0, 1e3)])


def parts_and_gradient(logits, labels, loss, dtype=torch.float32):
    tensor = torch.tensor(np.array(logits), dtype=dtype, requires_grad=True)
    parts = loss.parts(tensor, torch.tensor(labels), sigma=0.25)
    torch.stack([*parts.values()]).sum().backward()
    return {name: value.item() for name, value in parts.items()}, tensor.grad


@settings
@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("m", [1, 3])
def test_never_a_nan(case, m, gamma, beta):
    logits, labels = case
    parts, gradient = parts_and_gradient([logits] * m, labels, MacerLoss(12.0, gamma, beta))
    assert all(np.isfinite(value) for value in parts.values())
    assert gradient.isfinite().all()


@settings
def test_never_a_nan_on_the_way_to_saturation(gamma, beta):
    """Gaps from 0 to 120 pass through every size of probability that float32 has, subnormal ones included."""
    gaps = np.linspace(0, 120, 4001)
    logits = np.stack([gaps, np.zeros_like(gaps), -np.ones_like(gaps)], axis=1)
    for scale in (1.0, 1.0 / beta):
        parts, gradient = parts_and_gradient(
            [scale * logits], np.zeros(4001, dtype=np.int64), MacerLoss(12.0, gamma, beta)
        )
        assert all(np.isfinite(value) for value in parts.values())
        assert gradient.isfinite().all()


def test_never_a_nan_with_an_improbable_runner_up():
    """One copy of many is in doubt: the winner's votes stay below 1 while the others' are subnormal."""
    logits = np.zeros((2, 300, 40))
    logits[:, :, 0] = 1.0
    logits[:, :, 1:] = -np.linspace(0, 110, 300)[None, :, None]
    loss = MacerLoss(12.0, 1e6, 1.0)
    parts, gradient = parts_and_gradient(logits, np.zeros(300, dtype=np.int64), loss)
    assert np.isfinite(parts["radius"])
    assert gradient.isfinite().all()


def test_dropped_images_add_nothing_but_stay_in_the_mean():
    """Wrong, beyond the hinge, infinite: only the second image has a radius term, divided by all four."""
    logits = [[[0.0, 1.0], [0.3, 0.0], [9.0, 0.0], [1e4, 0.0]]]
    parts, gradient = parts_and_gradient(logits, [0, 0, 0, 0], MacerLoss(2.0, 4.0, 1.0), torch.float64)
    p = 1 / (1 + np.exp(-0.3))
    assert parts["radius"] == pytest.approx(2 * 0.25 / 2 * (4 - 2 * ndtri(p)) / 4)
    only_entropy = parts_and_gradient(logits, [0, 0, 0, 0], MacerLoss(0.0, 4.0, 1.0), torch.float64)[1]
    moved = (gradient - only_entropy).abs().sum(dim=(0, 2)) > 0
    assert moved.tolist() == [False, True, False, False]


@pytest.mark.parametrize("label, right", [(0, False), (1, True)])
def test_all_wrong_and_all_right(label, right):
    logits = [[[0.0, 0.5]] * 3] * 2
    parts, _ = parts_and_gradient(logits, [label] * 3, MacerLoss(2.0, 4.0, 1.0))
    assert (parts["radius"] > 0) == right


def test_right_is_judged_by_the_votes_at_beta():
    """Two lukewarm copies outvote one that is sure, though the plain mean probability is for the other class."""
    logits = [[[0.0, 0.2]], [[0.0, 0.2]], [[3.0, 0.0]]]
    assert torch.tensor(logits).softmax(-1).mean(0).argmax() == 0
    assert parts_and_gradient(logits, [1], MacerLoss(2.0, 4.0, 50.0))[0]["radius"] > 0
    assert parts_and_gradient(logits, [0], MacerLoss(2.0, 4.0, 50.0))[0]["radius"] == 0
