"""The words: each stands once, names in the code exist, and words that were given up are used nowhere."""

import re
from pathlib import Path

import pytest
from docs.rooms import SOURCE

PAGE = (Path(__file__).parents[1] / "docs" / "words.md").read_text(encoding="utf-8")
FIELD, WAY = (
    [[cell.strip() for cell in line.strip("|").split("|")] for line in part.splitlines() if line[:2] == "| "][
        1:
    ]
    for part in PAGE.split("## ")[1:]
)
TEXTS = {path: path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")}
GIVEN_UP = ("ballot", "journey", "keeper", "decider", "HonestMaxPool", "Priced", "mend")


def test_a_word_stands_once():
    words = [word for row in (*FIELD, *WAY) for word in row[0].split(", ")]
    assert sorted(words) == sorted(set(words))


@pytest.mark.parametrize("row", WAY, ids=lambda row: row[0])
def test_a_noun_is_called_so_in_the_code(row):
    for name in re.findall(r"`([^`]+)`", row[1]):
        last = name.split(".")[-1]
        defined = re.compile(rf"^\s*(class|def) {last}\b|^\s+{last}: ", re.MULTILINE)
        assert any(defined.search(text) for text in TEXTS.values()), name


@pytest.mark.parametrize("word", GIVEN_UP)
def test_a_word_that_was_given_up_is_used_nowhere(word):
    pattern = re.compile(rf"\b{word}s?\b", re.IGNORECASE)
    assert not [str(path.relative_to(SOURCE)) for path, text in TEXTS.items() if pattern.search(text)]
