"""Numbers of things in sentences."""

import pytest

from smoothcert.amounts import amount, ordinal


@pytest.mark.parametrize(
    ("count", "told"), [(0, "0 images"), (1, "1 image"), (2, "2 images"), (2_000, "2,000 images")]
)
def test_one_thing_is_not_several(count, told):
    assert amount(count, "image") == told


@pytest.mark.parametrize(
    ("number", "told"),
    [
        *[(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (12, "12th"), (13, "13th")],
        *[(20, "20th"), (21, "21st"), (102, "102nd"), (111, "111th"), (113, "113th"), (123, "123rd")],
    ],
)
def test_places_in_a_row_have_their_endings(number, told):
    assert ordinal(number) == told
