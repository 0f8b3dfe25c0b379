"""Draw rooms.svg from the imports: `python -m docs.draw_rooms`, after a room has learned to import another.

A staircase, not arrows, of which there would be a hundred: each room is a line and a step; a dot left of its step
stands below the step of a room that it imports. Data flow one way, so no dot stands right of a step.
"""

from __future__ import annotations

import ast
from html import escape
from pathlib import Path

from docs.rooms import GROUND_FLOOR, ROOMS, SOURCE, imports_of_rooms

PICTURE = Path(__file__).with_name("rooms.svg")
_CELL, _NAMES, _TOP, _GAP, _TEXT, _LETTER = 30, 116, 52, 12, 14, 7.0  # pixels
_GROUND = "ground floor"
_BLUE, _PALE, _INK, _GREY, _LINE = "#2563a8", "#eef3f9", "#1b1f24", "#8a939e", "#cfd7e0"


def lines_of_rooms() -> list[tuple[str, str, set[str]]]:
    """Return name, sentence and imported names of each line of the picture, top to bottom."""
    imports = imports_of_rooms()
    below = {name: _GROUND for row in GROUND_FLOOR for name in row}
    lines = [(_GROUND, ", ".join(name for row in GROUND_FLOOR for name in sorted(row)), set[str]())]
    for row in ROOMS:
        for name in sorted(row & imports.keys()):
            lines.append((name, _sentence(name), {below.get(other, other) for other in imports[name]}))
    return lines


def draw_rooms() -> str:
    """Return the picture as SVG."""
    lines = lines_of_rooms()
    text_at = _NAMES + len(lines) * _CELL + _GAP
    width = text_at + round(_LETTER * max(len(sentence) for _, sentence, _ in lines))
    height = _TOP + len(lines) * _CELL + _GAP
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
        f'viewBox="0 0 {width} {height}" font-family="Helvetica, Arial, sans-serif" font-size="{_TEXT}">',
        "<title>The rooms of smoothcert and which of them import which</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        f'<text x="{_GAP}" y="22" fill="{_INK}">A dot: the room of this line imports the room whose step stands '
        "above the dot. Nothing is imported from below.</text>",
    ]
    columns = {name: column for column, (name, _, _) in enumerate(lines)}
    parts += [_band(row, width) for row in range(1, len(lines), 2)]
    parts += [_guide(row, len(lines)) for row in range(len(lines) - 1)]
    for row, line in enumerate(lines):
        parts += _line(row, line, columns)
    return "\n".join([*parts, "</svg>", ""])


def _band(row: int, width: int) -> str:
    return f'<rect x="0" y="{_TOP + row * _CELL}" width="{width}" height="{_CELL}" fill="{_PALE}"/>'


def _guide(row: int, rows: int) -> str:
    """Return the line from a room's step downwards, along which its importers are found."""
    x = _NAMES + row * _CELL + _CELL // 2
    return f'<path d="M{x} {_TOP + (row + 1) * _CELL} V{_TOP + rows * _CELL}" stroke="{_LINE}"/>'


def _line(row: int, line: tuple[str, str, set[str]], columns: dict[str, int]) -> list[str]:
    """Return name, step, sentence and dots of a room."""
    name, sentence, imported = line
    top, middle = _TOP + row * _CELL, _TOP + row * _CELL + _CELL // 2
    step, base = _NAMES + row * _CELL, middle + 5
    parts = [
        f'<text x="{_GAP}" y="{base}" fill="{_INK}" font-weight="bold">{escape(name)}</text>',
        f'<rect x="{step + 2}" y="{top + 2}" width="{_CELL - 4}" height="{_CELL - 4}" rx="4" fill="{_BLUE}"/>',
        f'<text x="{step + _CELL // 2}" y="{base}" fill="white" text-anchor="middle">{row}</text>',
        f'<text x="{_NAMES + len(columns) * _CELL + _GAP}" y="{base}" fill="{_INK}">{escape(sentence)}</text>',
    ]
    for column in sorted(columns[other] for other in imported):
        x = _NAMES + column * _CELL + _CELL // 2
        parts.append(f'<circle cx="{x}" cy="{middle}" r="5" fill="{_BLUE if column else _GREY}"/>')
    return parts


def _sentence(room: str) -> str:
    """Return the first sentence of a room's docstring, without the room's own name in front."""
    text = ast.get_docstring(ast.parse((SOURCE / room / "__init__.py").read_text())) or ""
    sentence = " ".join(text.split("\n\n")[0].split()).removesuffix(".").replace("`", "")
    start, _, rest = sentence.partition(": ")
    told = rest if rest and start.lower().split()[0] == room else sentence
    return f"{told[:1].upper()}{told[1:]}".replace("<->", "↔").replace("->", "→")


if __name__ == "__main__":
    PICTURE.write_text(draw_rooms(), encoding="utf-8")
