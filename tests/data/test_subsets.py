"""Subsets choose what the option says, within the split."""

import pytest

from smoothcert.data import parse_subset, select_indices
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
        ({"indices": "5"}, [5]),
        ({"indices": "5:, 0:2,3"}, [0, 1, 3, 5, 6]),
        ({"indices": "1::3"}, [1, 4]),
        ({"indices": "0:5:2"}, [0, 2, 4]),
        ({"indices": "3,5,0"}, [0, 3, 5]),
        ({"max": 3}, [0, 1, 2]),
        ({"max": 100}, [0, 1, 2, 3, 4, 5, 6]),
        ({"offset": 5}, [5, 6]),
        ({"offset": 1, "every": 2}, [1, 3, 5]),
        ({"offset": 1, "every": 2, "max": 2}, [1, 3]),  # a count: as an index it would choose 1 alone
        ({"every": 3, "max": 2}, [0, 3]),
        ({"offset": 0, "max": 1}, [0]),
    ],
)
def test_choice(option, expected):
    assert select_indices(7, **option) == tuple(expected)


@pytest.mark.parametrize(
    "option, message",
    [
        ({"every": 0}, "every must be an integer of at least 1, got 0"),
        ({"first": 0}, r"first must lie in 1\.\.7.*got 0"),
        ({"first": 8}, r"first must lie in 1\.\.7.*got 8"),
        ({"indices": "3:3"}, "end at 7 at most.*'3:3'"),
        ({"indices": "3:8"}, "end at 7 at most.*'3:8'"),
        ({"indices": "7:"}, "'7:'"),
        ({"indices": "7"}, "end at 7 at most.*'7'"),
        ({"indices": "0:3,8"}, "end at 7 at most.*'0:3,8'"),
        ({"indices": "0:5:0"}, "at least one image.*'0:5:0'"),
        ({"indices": "0:3,2"}, "once, but '0:3,2' chooses 2 again"),
        ({"indices": "0:3,"}, "must look like 10:20"),
        ({"indices": ""}, "must look like 10:20"),
        ({"indices": "-3:"}, "must look like"),
        ({"indices": "a:b"}, "must look like"),
        ({"every": 2, "first": 3}, "choose alone.*got every and first"),
        ({"indices": "1", "max": 3}, "choose alone.*got indices and max"),
        ({"first": 1, "offset": 3}, "choose alone.*got first and offset"),
        ({"max": 0}, "max must be an integer of at least 1, got 0"),
        ({"offset": -1}, "offset must be an integer of at least 0, got -1"),
        ({"offset": 7}, "offset must leave one of the 7 images of the split, got 7"),
    ],
)
def test_wrong_choices_name_the_value(option, message):
    with pytest.raises(InvalidArgumentError, match=message):
        select_indices(7, **option)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("all", range(10_000)),
        ("every(20)", range(0, 10_000, 20)),
        (" first( 500 ) ", range(500)),
        ("888:1888", range(888, 1888)),
        ("1::20", range(1, 10_000, 20)),
        ("0:100,200:300,7000", [*range(100), *range(200, 300), 7000]),
    ],
)
def test_text_of_a_recipe(text, expected):
    assert parse_subset(text, 10_000) == tuple(expected)


@pytest.mark.parametrize(
    "text, message",
    [
        ("each(20)", r"must look like all, every\(20\).*'each\(20\)'"),
        ("every(-1)", "must look like all"),
        ("", "must look like all"),
        ("every(0)", "every must be an integer of at least 1"),
        ("first(11)", r"first must lie in 1\.\.10"),
        ("3:11", "end at 10 at most"),
    ],
)
def test_wrong_text_of_a_recipe(text, message):
    with pytest.raises(InvalidArgumentError, match=message):
        parse_subset(text, 10)
