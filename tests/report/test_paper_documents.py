"""LaTeX, Markdown and CSV are read back by parsers: every name is the text it was, whatever it holds."""

import csv
import io
import re
import shutil
import subprocess
from html import unescape
from typing import ClassVar

import pytest
from markdown_it import MarkdownIt

from smoothcert.report.paper.latex import latex_tables, latex_text
from smoothcert.report.paper.paper_table import Cell, PaperTable
from smoothcert.report.paper.text_tables import csv_table, markdown_tables

NAMES = [
    "plain",
    "runs/a_b-c",
    r"\input{/etc/passwd} & 50% $x$ #1 {y} ~ ^",
    r"a\\b \end{tabular} \\",
    "[2pt]* –-",
    "--- '' `` ,, << >> |x| \"q\"",
    "=SUM(A1)",
    "# h | **b** _i_ <b>&amp;</b> [l](u) `c` ~~s~~ \\* $m$ !",
    "1. one",
    "- x",
]
INVISIBLE = "a\nb\x00\x1b[31m"


def table(names, best=False):
    rows = tuple((Cell(name), Cell("99.1", "0.2", is_best=best), Cell("n/p"), Cell("≥5.0")) for name in names)
    records = tuple({"name": name, "acr": 0.1 + 0.2, "sd": None} for name in names)
    heads = ("run", "ACR", "r=0.25", "r=0.5")
    return PaperTable(
        "Title of 100%", heads, (rows, rows[:1]), ("A note: n/p – ± 5_%.",), records, (2, 2, "at r (%)")
    )


class Latex:
    """A reader of the LaTeX that tables are made of; raises ValueError for anything else."""

    TEXT: ClassVar = {
        "textbackslash": "\\", "textasciitilde": "~", "textasciicircum": "^", "textless": "<", "textgreater": ">",
        "textbar": "|", "textquotedbl": '"', "textasciigrave": "`", "ldots": "…", "textendash": "–",
    }  # fmt: skip
    MATH: ClassVar = {r"$\pm$": "±", r"$\times$": "×", r"$\geq$": "≥", r"$\ell$": "ℓ"}

    @classmethod
    def rows(cls, source):
        """Return the cells of each row, after checking environments, rules and the number of columns."""
        lines = [line for line in source.splitlines() if not line.startswith("%")]
        begin = re.fullmatch(r"\\begin\{tabular\}\{(l?r*)\}", lines[0])
        end = lines.index(r"\end{tabular}")
        if not begin or lines[1] != r"\toprule" or lines[end - 1] != r"\bottomrule":
            raise ValueError("no table")
        found = []
        for line in lines[2 : end - 1]:
            if line == r"\midrule" or re.fullmatch(r"\\cmidrule\(lr\)\{\d+-\d+\}", line):
                continue
            if not line.endswith(r" \\"):
                raise ValueError(f"a row that does not end: {line}")
            cells, width = re.split(r"(?<!\\)&", line.removesuffix(r" \\")), 0
            for cell in cells:
                several = re.fullmatch(r"\\multicolumn\{(\d+)\}\{c\}\{(.*)\}", cell.strip())
                width += int(several[1]) if several else 1
            if width != len(begin[1]):
                raise ValueError(f"{width} columns of {len(begin[1])}: {line}")
            found.append([cls.text(cell.strip()) for cell in cells])
        return found, [cls.text(line) for line in lines[end + 1 :] if line and line != r"\smallskip"]

    @classmethod
    def text(cls, code):
        """Return what a piece of LaTeX shows."""
        code = re.sub(r"\\multicolumn\{\d+\}\{c\}", "", code)
        code = code.replace(r"\footnotesize ", "").replace(r"\par", "")
        shown, depth, place = "", 0, 0
        while place < len(code):
            rest = code[place:]
            math = next((m for m in cls.MATH if rest.startswith(m)), None)
            command = re.match(r"\\([a-zA-Z]+)(\{\})?", rest)
            if math:
                shown, place = shown + cls.MATH[math], place + len(math)
            elif rest.startswith(r"\textbf{"):
                depth, place = depth + 1, place + len(r"\textbf{")
            elif command:
                if command[2] is None:
                    raise ValueError(f"a command that may eat a space: {command[0]}")
                shown, place = shown + cls.TEXT[command[1]], place + len(command[0])
            elif rest[0] == "\\":
                if rest[1] not in "{}$&%#_":
                    raise ValueError(f"unknown {rest[:2]}")
                shown, place = shown + rest[1], place + 2
            elif rest[0] in "{}":
                depth, place = depth + (1 if rest[0] == "{" else -1), place + 1
                if depth < 0:
                    raise ValueError("unbalanced")
            elif rest[0] in "$&%#_~^":
                raise ValueError(f"unescaped {rest[0]}")
            elif re.match(r"--|''|,,|``|<<|>>", rest):
                raise ValueError(f"a ligature {rest[:2]}")
            else:
                shown, place = shown + rest[0], place + 1
        if depth:
            raise ValueError("unbalanced")
        return shown


@pytest.mark.parametrize("best", [False, True])
def test_latex_reads_back_as_the_texts_that_went_in(best):
    (above, heads, *rows), notes = Latex.rows(latex_tables([table(NAMES, best)]))
    assert above == ["", "", "at r (%)"]
    assert heads == ["run", "ACR", "0.25", "0.5"]
    assert [row[0] for row in rows] == [*NAMES, NAMES[0]]
    assert all(row[1:] == ["99.1 ± 0.2", "n/p", "≥5.0"] for row in rows)
    assert notes == ["A note: n/p – ± 5_%."]


@pytest.mark.parametrize("code", [r"a_b", r"50%", r"{a", r"a}", r"$x$", r"\input{x}", r"\ldots x", "a''b"])
def test_the_reader_of_latex_refuses_what_is_not_escaped(code):
    with pytest.raises((ValueError, KeyError)):
        Latex.text(code)


def test_what_cannot_be_seen_is_shown_as_an_escape():
    assert Latex.text(latex_text(INVISIBLE)) == "a\\nb\\x00\\x1b[31m"
    for text in (
        latex_tables([table([INVISIBLE])]),
        markdown_tables([table([INVISIBLE])]),
        csv_table(table([INVISIBLE])),
    ):
        assert "\x00" not in text
        assert "\x1b" not in text


@pytest.mark.slow
def test_latex_compiles(tmp_path):
    program = next(filter(None, map(shutil.which, ("pdflatex", "tectonic"))), None)
    if program is None:
        pytest.skip("needs pdflatex or tectonic")
    begin = r"\documentclass{article}\usepackage{booktabs}\usepackage[T1]{fontenc}\begin{document}"
    source = latex_tables([table(NAMES, best=True), table(NAMES[:2])])
    (tmp_path / "a.tex").write_text(f"{begin}\n{source}\n\\end{{document}}\n")
    options = ["-halt-on-error", "-interaction=nonstopmode"] if "pdflatex" in program else []
    done = subprocess.run([program, *options, "a.tex"], cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:]


def test_markdown_reads_back_as_the_texts_that_went_in():
    html = MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(markdown_tables([table(NAMES)]))
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    cells = [[unescape(cell) for cell in re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)] for row in rows]
    assert cells[0] == ["run", "ACR", "r=0.25", "r=0.5"]
    assert [row[0] for row in cells[1:]] == [*NAMES, NAMES[0]]  # text alone: no tag was made of it
    assert all(row[1:] == ["99.1 ± 0.2", "n/p", "≥5.0"] for row in cells[1:])
    assert "<p>A note: n/p – ± 5_%.</p>" in html
    assert "<li>" not in html


def test_csv_is_unrounded_and_holds_no_formula():
    rows = list(csv.DictReader(io.StringIO(csv_table(table(NAMES)))))
    assert [row["name"] for row in rows] == ["'" + name if name[0] in "=-+@" else name for name in NAMES]
    assert {float(row["acr"]) for row in rows} == {0.1 + 0.2}
    assert {row["sd"] for row in rows} == {""}


def test_rows_and_headings_must_fit():
    with pytest.raises(ValueError, match="must have 2 cells"):
        PaperTable("t", ("a", "b"), (((Cell("x"),),),), (), ())
