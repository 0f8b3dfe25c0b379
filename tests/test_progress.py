"""Lines of progress by a made-up clock: when they come, and what they say is left."""

import pytest

from smoothcert import progress as module


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is set."""

    class Clock:
        now = 0.0

        def monotonic(self):
            return self.now

    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_lines_come_after_two_seconds_and_then_every_ten(clock, capsys):
    with module.progress("counting", 100, shown=True) as show:
        for second in range(0, 30):
            clock.now = second
            show(second, "sheep")
    assert capsys.readouterr().err.splitlines() == [
        "counting: 2 of 100, 98 s left; sheep",
        "counting: 12 of 100, 88 s left; sheep",
        "counting: 22 of 100, 78 s left; sheep",
    ]


@pytest.mark.parametrize(
    "seconds, told",
    [
        (None, ""),
        (0.4, ", 0 s left"),
        (119, ", 119 s left"),
        (150, ", 2.5 min left"),
        (9_000, ", 2.5 h left"),
    ],
)
def test_whoever_knows_better_is_asked_when_a_line_is_due(seconds, told, clock, capsys):
    asked = []

    def left():
        asked.append(clock.now)
        return seconds

    with module.progress("counting", 100, shown=True) as show:
        for now in (0.0, 1.0, 3.0, 4.0):
            clock.now = now
            show(50, "sheep", left)
    assert asked == [3.0]
    assert capsys.readouterr().err == f"counting: 50 of 100{told}; sheep\n"


def test_nothing_is_shown_where_it_is_not_wanted(clock, capsys):
    with module.progress("counting", 3, shown=False) as show:
        clock.now = 100.0
        show(1, "sheep", lambda: pytest.fail("nobody reads it"))
    assert capsys.readouterr().err == ""
