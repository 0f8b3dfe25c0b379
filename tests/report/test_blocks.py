"""A table fits its terminal: every cell and every name whole, no line too long, and nothing lost between blocks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smoothcert.report import make_table, print_tables
from smoothcert.report.tables.blocks import table_lines

LONG = "runs/experiments/mnist-lenet-gaussian-sigma-0.25/fixed"
FIGURES = ("50", "0.48205", "98.0", "88.0", "60.0", "n/p", "2.0", "1100")
HEADINGS = ("", "images", "ACR", "r=0", "r=0.25", "r=0.75", "r=1.25", "abst.", "votes")


def lines(names, width, headings=HEADINGS, apart=None):
    table = make_table("Certified accuracy", headings, [(name, *FIGURES) for name in names], apart)
    return [line for _, line in table_lines(table, width)]


@pytest.mark.parametrize("width", [20, 40, 60, 80, 120, 200])
@pytest.mark.parametrize("names", [["a"], [LONG], [LONG, f"{LONG}-2", f"{LONG}-3"]])
def test_headings_names_and_figures_are_whole_at_every_width(names, width):
    found = lines(names, width)
    words = " ".join(found).split()
    for heading in HEADINGS[1:]:
        assert words.count(heading) == 1
    for figure in FIGURES:
        assert words.count(figure) == len(names)
    for name in names:
        assert any(line.startswith(name) for line in found)
    assert "…" not in "".join(found)
    assert all(len(line) <= max(width, len(LONG) + 2) for line in found)


def test_a_single_table_where_there_is_room_and_two_where_not():
    assert sum("─" in line for line in lines([LONG], 200)) == 1
    assert sum("─" in line for line in lines(["a"], 80)) == 1
    assert sum("─" in line for line in lines(["a"], 40)) == 2


def test_a_break_is_where_the_kind_of_columns_changes_if_that_costs_no_block():
    assert [line.split() for line in lines(["a"], 50, apart="abst.") if "votes" in line] == [
        ["abst.", "votes"]
    ]
    assert [line.split() for line in lines(["a"], 50) if "votes" in line] == [["votes"]]
    assert sum("─" in line for line in lines(["a"], 80, apart="abst.")) == 1


def test_a_long_name_stands_above_its_figures_in_each_block():
    found = lines([LONG], 30)
    assert found.count(LONG) == sum("─" in line for line in found) > 1


def test_a_row_without_a_name_belongs_to_the_one_above():
    table = make_table("t", ("", "a"), [(LONG, "1"), ("", "2")])
    found = [line for _, line in table_lines(table, 20)]
    assert found[found.index(LONG) + 1 : found.index(LONG) + 3] == ["  1", "  2"]


@given(
    st.integers(20, 120),
    st.lists(st.text("abcäß中", min_size=1, max_size=40), min_size=1, max_size=4),
    st.lists(st.text("0123456789.–", min_size=1, max_size=12), min_size=1, max_size=12),
)
def test_any_table(width, names, cells):
    headings = [f"c{number}" for number in range(len(cells))]
    found = [
        line for _, line in table_lines(make_table("t", ("", *headings), [(n, *cells) for n in names]), width)
    ]
    words = " ".join(found).split()
    assert [word for word in words if word in headings] == headings
    for cell in cells:
        assert words.count(cell) == len(names) * cells.count(cell)


@pytest.mark.parametrize(("columns", "blocks"), [("40", 2), ("80", 1), (None, 1), ("x", 1)])
def test_the_width_is_what_columns_says(monkeypatch, capsys, columns, blocks):
    if columns is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", columns)
    sentence = "Words are not cut in the middle of a line, whatever its width; and a/path/longer/than/it/stays/whole."
    print_tables([make_table("t", HEADINGS, [("a", *FIGURES)])], [sentence], width=160)
    out = capsys.readouterr().out
    assert sum("─" in line for line in out.splitlines()) == blocks
    assert sentence in " ".join(out.split())
    if columns in ("40", "80"):
        assert all(len(line) <= max(int(columns), 33) for line in out.splitlines())
