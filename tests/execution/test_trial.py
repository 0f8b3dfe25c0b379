"""The pace of a trial is that of its clock, however its images bunch up."""

import numpy as np
import pytest

from smoothcert.execution.trial import _speed

VOTES = 128


@pytest.mark.parametrize("images", [1, 5, 20, 300])
@pytest.mark.parametrize("bunch", [1, 20, 300])
def test_images_that_are_done_in_bunches_are_not_taken_to_be_fast(images, bunch):
    """Ten images a second, whose ends are told in bunches: the last bunch ends with the last image."""
    ends = np.minimum(np.ceil(np.arange(1, images + 1) / bunch) * bunch, images) / 10
    ticks = [0.0, *(ends + 1e-6 * np.arange(images)).tolist()]
    speed = _speed(1, ticks, VOTES)
    assert 0.5 * 10 * VOTES <= speed.mean <= 2 * 10 * VOTES
    assert speed.slowest <= speed.mean <= speed.fastest


def test_what_was_done_while_warming_up_does_not_count():
    slow, fast = np.arange(1, 6) / 2, 2.5 + np.arange(1, 401) / 10
    speed = _speed(1, [0.0, *slow.tolist(), *fast.tolist()], VOTES)
    assert speed.mean == pytest.approx(10 * VOTES, rel=0.01)
