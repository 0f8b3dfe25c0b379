"""Text that others wrote, shown on a terminal."""

import pytest

from smoothcert.visible import visible


@pytest.mark.parametrize("text", ["", "cat", "naïve 猫 ½ –", "[bold]x[/bold]", r"back\slash", "🙂"])
def test_what_can_be_seen_stays(text):
    assert visible(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[2Jgone", r"\x1b[2Jgone"),
        ("a\nb\r\tc\0", r"a\nb\r\tc\x00"),
        ("\x7f\x85\x9b31m", r"\x7f\x85\x9b31m"),
        ("\u202egnp.exe", r"\u202egnp.exe"),
        ("\u2028\u200b", r"\u2028\u200b"),
        ("\udcff", r"\udcff"),
    ],
)
def test_what_cannot_be_seen_is_shown_as_its_escape(text, shown):
    assert visible(text) == shown
    assert visible(text).isprintable()
