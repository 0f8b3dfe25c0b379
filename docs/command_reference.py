"""Every command with its arguments and options, as Markdown, read from the program itself."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smoothcert.cli.app import COMMANDS
from smoothcert.cli.later import LaterCommand

_PLAIN = "Options"
_KINDS = {int: "number", float: "number", Path: "path"}
_MARKUP = re.compile(r"\\\[")


def command_reference(introduction: str) -> str:
    """Return the page: what stands before, then a section per command in the order of the help."""
    return "\n".join([introduction, *(line for name in COMMANDS for line in _section(name))])


def parameters_of(name: str) -> list[Any]:
    """Return arguments and options of a command, those that members bring among them; not --help, which all have."""
    context = _context(name)
    return [param for param in context.command.get_params(context) if "--help" not in param.opts]


def spelling(param: Any) -> str:
    """Return what is typed for a parameter: `--sound` / `--no-sound`, or the name of an argument."""
    if param.param_type_name == "argument":
        return f"`{param.metavar or param.name.upper()}`"
    return " / ".join(f"`{name}`" for name in (*param.opts, *param.secondary_opts))


def _context(name: str) -> Any:
    return LaterCommand(name, COMMANDS[name]).make_context(name, [], resilient_parsing=True)


def _section(name: str) -> Iterator[str]:
    text = inspect.cleandoc(LaterCommand(name, COMMANDS[name]).help or "")
    about, _, example = text.partition("\nExample:")
    yield f"\n## smoothcert {name}\n"
    yield about.strip()
    yield "\n```\n" + "\n".join(_joined(example)) + "\n```\n"
    panels: dict[str, list[Any]] = {}
    for param in parameters_of(name):
        heading = "Arguments" if param.param_type_name == "argument" else param.rich_help_panel or _PLAIN
        panels.setdefault(heading, []).append(param)
    for heading, params in sorted(panels.items(), key=lambda panel: panel[0] != "Arguments"):
        yield f"\n| {heading} | value | what it says |\n| --- | --- | --- |"
        yield from (_row(param) for param in params)


def _joined(example: str) -> Iterator[str]:
    """Yield the example's commands, those that stand on several lines with a backslash between them."""
    for block in re.split(r"\n\s*\n|\n(?=\s*smoothcert )", example.strip()):
        yield " \\\n    ".join(line.strip() for line in block.splitlines())


def _row(param: Any) -> str:
    value = "" if _is_flag(param) else f"`{_kind(param)}`"
    told = _MARKUP.sub("[", " ".join((param.help or "").split()))
    notes = [told]
    if param.required:
        notes.append("Required.")
    elif not _is_flag(param) and param.default is not None and not callable(param.default):
        notes.append(f"Default: `{param.default}`.")
    cells = (spelling(param), value, " ".join(filter(None, notes)))
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _is_flag(param: Any) -> bool:
    return param.param_type_name == "argument" or bool(getattr(param, "is_flag", False))


def _kind(param: Any) -> str:
    """Return what kind of value an option takes, in one word."""
    if param.metavar:
        return str(param.metavar).lower()
    kind = param.type_descriptor.annotation
    return _KINDS.get(kind, "text")
