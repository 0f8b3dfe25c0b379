"""Text that others wrote, shown on a terminal."""

import pytest

from smoothcert.visible import brief, visible


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


class Mute:
    def __repr__(self):
        raise RuntimeError("no words")


def test_values_in_messages_are_short_whatever_they_are():
    assert brief("a") == "'a'"
    assert brief([1, 2]) == "[1, 2]"
    assert brief(10**5_000) == "a value of type int that cannot be written out"
    assert brief(list(range(10**6))) == "a list of 1,000,000"
    assert brief(Mute()) == "a value of type Mute that cannot be written out"
    assert brief("x" * 1_000).endswith("x.. (1,002 characters)")
