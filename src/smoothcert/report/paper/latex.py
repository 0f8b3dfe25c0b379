r"""Tables in LaTeX, with the rules of booktabs; every name and figure is text, whatever it holds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from smoothcert.report.paper.paper_table import Cell, PaperTable
from smoothcert.visible import visible

_TEXT = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\textquotedbl{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # after the end of a row it would begin a length
    "*": "{*}",  # there too
    "–": r"\textendash{}",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "ℓ": r"$\ell$",
    "…": r"\ldots{}",
}
_LIGATURE = re.compile(r"([-',])(?=\1)")
"""What becomes another sign where two stand together."""
_PACKAGES = "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc} in the preamble\n"


def latex_text(text: str) -> str:
    """Return any text as LaTeX that shows it as it is; what cannot be seen is shown as an escape.

    Not for letters that the document's fonts lack: those stay as they are, in UTF-8.
    """
    apart = _LIGATURE.sub("\\1\0", visible(text))  # nothing that can be seen holds a null
    return "".join(_TEXT.get(character, character) for character in apart).replace("\0", "{}")


def latex_tables(tables: Sequence[PaperTable]) -> str:
    """Return tables with what is to be said below each, to be read by \\input inside a table environment."""
    return _PACKAGES + "\n".join("".join(f"{line}\n" for line in _lines(table)) for table in tables)


def _lines(table: PaperTable) -> Iterator[str]:
    yield f"% {visible(table.title)}"
    yield rf"\begin{{tabular}}{{l{'r' * (len(table.columns) - 1)}}}"
    yield r"\toprule"
    heads = [latex_text(heading) for heading in table.columns]
    if table.span is not None:
        first, count, words = table.span
        above = [
            *[""] * first,
            rf"\multicolumn{{{count}}}{{c}}{{{latex_text(words)}}}",
            *[""] * (len(heads) - first - count),
        ]
        yield _row(above)
        yield rf"\cmidrule(lr){{{first + 1}-{first + count}}}"
        for place in range(first, first + count):
            heads[place] = latex_text(table.columns[place].removeprefix("r="))
    yield _row(heads)
    for block in table.blocks:
        yield r"\midrule"
        for row in block:
            yield _row([_cell(cell) for cell in row])
    yield r"\bottomrule"
    yield r"\end{tabular}"
    if table.notes:
        yield ""
        yield r"\smallskip"
        yield rf"{{\footnotesize {' '.join(latex_text(note) for note in table.notes)}\par}}"


def _row(cells: Sequence[str]) -> str:
    return f"{' & '.join(cells)} \\\\"


def _cell(cell: Cell) -> str:
    text = latex_text(cell.text)
    text = rf"\textbf{{{text}}}" if cell.is_best else text
    return text if cell.deviation is None else rf"{text} $\pm$ {latex_text(cell.deviation)}"
