"""Numbers as arguments: True is none, nor is NaN or infinity, and the message names argument, rule and value."""

import math
import re

import numpy as np
import pytest

from smoothcert.arguments import check_number, check_switch, check_whole, is_number, is_whole
from smoothcert.errors import InvalidArgumentError

HUGE = 10**400  # does not fit into a float, and has more digits than Python writes out at once
NO_INTEGERS = (True, False, None, 1.0, "1", [1], math.nan, np.float64(1), np.bool_(True))
NO_NUMBERS = (True, None, "0.5", [0.5], 0.5j, np.complex128(0.5), math.nan, math.inf, -math.inf, HUGE, -HUGE)


@pytest.mark.parametrize("value", NO_INTEGERS)
def test_no_integer(value):
    assert not is_whole(value)
    assert not is_whole(value, numpy=True)


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_no_number(value):
    assert not is_number(value)
    assert not is_number(value, numpy=True)


def test_limits_of_integers_are_allowed_themselves():
    assert [value for value in range(6) if is_whole(value, 2, 4)] == [2, 3, 4]
    assert is_whole(HUGE)
    assert not is_whole(HUGE, most=5)


def test_limits_of_numbers():
    tenths = (0, 0.1, 0.5, 1)
    assert [value for value in tenths if is_number(value, 0.1, 0.5)] == [0.1, 0.5]
    assert [value for value in tenths if is_number(value, above=0, below=1)] == [0.1, 0.5]


def test_numpy_only_where_the_caller_turns_it_into_python():
    assert not is_whole(np.int64(3))
    assert type(check_whole("n", np.int64(3), 1, numpy=True)) is int
    assert not is_number(np.float32(0.5))
    assert type(check_number("p", np.float32(0.5), 0, 1, what="a share", numpy=True)) is float
    assert is_number(np.int8(3), 0, 1000, numpy=True)


def test_a_narrow_number_is_compared_as_it_is():
    assert not is_number(np.float32(0), above=1e-300, numpy=True)
    assert not is_number(np.float32(0.1), most=0.1, numpy=True)  # the nearest of its kind lies above


def test_what_messages_say():
    for call, sentence in (
        (lambda: check_whole("n", 0, 1), "n must be an integer of at least 1, got 0"),
        (lambda: check_whole("k", True, 1, 2048), "k must be an integer from 1 to 2,048, got True"),
        (
            lambda: check_whole("seed", -1, 0, what="secret", fix="; leave it out"),
            "seed must be secret, got -1; leave it out",
        ),
        (
            lambda: check_number("p", math.nan, 0, 1, what="a share", fix="; count"),
            "p must be a share, got nan; count",
        ),
        (lambda: check_switch("fast", "no"), "fast must be True or False, got 'no'"),
    ):
        with pytest.raises(InvalidArgumentError, match=f"^{re.escape(sentence)}$"):
            call()


def test_the_argument_comes_back():
    assert check_whole("n", 3, 1) == 3
    assert check_number("p", 1, 0, 1, what="a share") == 1.0
    assert check_switch("fast", True) is True


def test_numbers_too_long_to_write_are_refused_in_a_sentence():
    with pytest.raises(InvalidArgumentError, match=r"^n must be an integer from 1 to 9, got 1000"):
        check_whole("n", HUGE, 1, 9)
    with pytest.raises(
        InvalidArgumentError, match=r"^p must be a share, got a value of type int that cannot"
    ):
        check_number("p", 10**5000, 0, 1, what="a share")
