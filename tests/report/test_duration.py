"""Times in words."""

import pytest

from smoothcert.report.tables.duration import show_duration, show_range


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.04, "0.0 s"),
        (1.54, "1.5 s"),
        (119, "119 s"),
        (120, "2.0 min"),
        (3_000, "50 min"),
        (7_200, "2.0 h"),
        (47 * 3_600, "47 h"),
        (48 * 3_600, "2.0 days"),
        (1_679.9 * 3_600, "70 days"),
    ],
)
def test_durations(seconds, words):
    assert show_duration(seconds) == words


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (720, 3_000, "12 to 50 min"),
        (50, 240, "0.8 to 4.0 min"),
        (5, 240, "5.0 s to 4.0 min"),
        (3_000, 3_001, "50 min"),
        (36 * 3_600, 240 * 3_600, "1.5 to 10 days"),
        (60, 40 * 86_400, "60 s to 40 days"),
    ],
)
def test_ranges(low, high, words):
    assert show_range(low, high) == words
