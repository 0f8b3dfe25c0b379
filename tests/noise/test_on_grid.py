"""Changes of 8-bit images stay 8-bit, stay in the ball, and do not vanish."""

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from smoothcert.noise.on_grid import on_grid


@given(seed=st.integers(0, 2**32 - 1), reach=st.floats(0, 2))
def test_whole_steps_within_reach(seed, reach):
    rng = np.random.default_rng(seed)
    clean = torch.from_numpy(rng.integers(0, 256, (1, 4, 4)) / 255).float()
    change = torch.from_numpy(rng.normal(size=(1, 4, 4))).float()
    moved = (clean + reach * change / torch.linalg.vector_norm(change)).clamp(0, 1)
    found = on_grid(moved, clean, reach)
    steps = found.double() * 255
    assert (steps - steps.round()).abs().max() < 1e-4
    assert 0 <= steps.min() <= steps.max() <= 255
    assert float(torch.linalg.vector_norm((found - clean).double())) <= reach + 1e-7
    assert ((found - moved).abs() <= 1 / 255 + 1e-6).all()


def test_a_change_below_a_step_is_rounded_away_where_the_ball_allows():
    """Cut down, .4 steps in each of 64 pixels would be none at all; ten whole ones fit into the same ball."""
    clean = torch.full((64,), 128 / 255)
    moved = clean + 0.4 / 255
    found = on_grid(moved, clean, float(torch.linalg.vector_norm(moved - clean)) + 1e-6)
    assert int((found != clean).sum()) == 10
    one = clean.clone()
    one[0] += 2 / 255
    assert torch.equal(on_grid(one, clean, 1.0), one.mul(255).round() / 255)  # nothing else is moved
    assert torch.equal(on_grid(moved, clean, 0.9 / 255), clean)  # no other 8-bit image is so near
