"""Subsets choose what the option says, within the split."""

import pytest

from smoothcert.data import select_indices
from smoothcert.errors import InvalidArgumentError


@pytest.mark.parametrize(
    "option, expected",
    [
        ({}, [0, 1, 2, 3, 4, 5, 6]),
        ({"every": 3}, [0, 3, 6]),
        ({"every": 1}, [0, 1, 2, 3, 4, 5, 6]),
        ({"every": 20}, [0]),
        ({"first": 2}, [0, 1]),
        ({"first": 7}, [0, 1, 2, 3, 4, 5, 6]),
        ({"indices": "2:5"}, [2, 3, 4]),
        ({"indices": "5:"}, [5, 6]),
        ({"indices": "0:7"}, [0, 1, 2, 3, 4, 5, 6]),
    ],
)
def test_choice(option, expected):
    assert select_indices(7, **option) == tuple(expected)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"every": 0}, "every must be at least 1, got 0"),
        ({"first": 0}, r"first must lie in 1\.\.7.*got 0"),
        ({"first": 8}, r"first must lie in 1\.\.7.*got 8"),
        ({"indices": "3:3"}, "end at 7 at most.*'3:3'"),
        ({"indices": "3:8"}, "end at 7 at most.*'3:8'"),
        ({"indices": "7:"}, "'7:'"),
        ({"indices": "5"}, "must look like 10:20.*'5'"),
        ({"indices": "-3:"}, "must look like"),
        ({"indices": "a:b"}, "must look like"),
        ({"every": 2, "first": 3}, "at most one of .* got every and first"),
    ],
)
def test_wrong_choices_name_the_value(option, message):
    with pytest.raises(InvalidArgumentError, match=message):
        select_indices(7, **option)
