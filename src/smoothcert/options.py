"""What a member can be told on a command line or in a file: its fields, with the sentences of its docstring."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, Union, get_args, get_origin, get_type_hints

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief


@dataclass(frozen=True)
class Option:
    """One thing that a member can be told.

    Args:
        name: on the command line, with `-` for `_`; the field's own unless its metadata has another one ("option").
        field: the name of the constructor's argument.
        kind: bool, int, float or str.
        many: whether several values are given, with commas between them.
        default: what holds where nothing is given; None if the member decides.
        required: whether something must be given.
        text: the sentence of the docstring.
    """

    name: str
    field: str
    kind: type
    many: bool
    default: Any
    required: bool
    text: str

    def read(self, text: str) -> Any:
        """Return the value or values that a text gives; refuse a text that gives none of this kind."""
        try:
            values = tuple(self.kind(part) for part in text.split(","))
        except ValueError:
            values = ()
        if not values or (len(values) > 1 and not self.many):
            example = {int: "100,1000,10000", float: "0,0.25,0.5"}.get(self.kind, "a,b")
            raise InvalidArgumentError(
                f"--{self.name} must be numbers separated by commas such as {example}, got {brief(text)}"
                if self.many
                else f"--{self.name} must be one {self.kind.__name__}, got {brief(text)}"
            )
        return values if self.many else values[0]

    def taken(self, given: Any) -> Any:
        """Return what was given, as the member takes it: several values where one text gives them."""
        return self.read(given) if self.many and isinstance(given, str) else given


def options_of(member: type) -> tuple[Option, ...]:
    """Return what a dataclass can be told: a field each, in their order."""
    hints, texts = get_type_hints(member), argument_texts(member)
    return tuple(
        _option(field, hints[field.name], texts.get(field.name, "")) for field in fields(member) if field.init
    )


def make(kind: str, name: str, member: type, given: dict[str, Any]) -> Any:
    """Build a member from options by name; refuse those that it does not take, and ask for those it needs.

    Args:
        kind: what the member is, for messages.
        name: of the member.
        member: a dataclass.
        given: values by the option's name; None counts as not given.
    """
    return member(**arguments_from(kind, name, options_of(member), given))


def arguments_from(
    kind: str, name: str, options: Iterable[Option], given: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the constructor's arguments for options by name; refuse unknown ones, and ask for those it needs.

    Args:
        kind: what the member is, for messages.
        name: of the member.
        options: what it can be told.
        given: values by the option's name; None counts as not given.
    """
    takes = {option.name: option for option in options}
    said = {option: value for option, value in given.items() if value is not None}
    for option, value in said.items():
        if option not in takes:
            raise InvalidArgumentError(
                f"{kind} {name!r} takes no {option} (got {brief(value)}); it takes {listed(takes)}"
            )
    for need in takes.values():
        if need.required and need.name not in said:
            raise InvalidArgumentError(
                f"{kind} {name!r} needs {need.name} ({need.text.rstrip('.')}); give it"
            )
    return {takes[option].field: takes[option].taken(value) for option, value in said.items()}


def listed(names: Iterable[str]) -> str:
    """Return names as a list in a sentence; "nothing" for none."""
    return ", ".join(names) or "nothing"


def argument_texts(member: Any) -> dict[str, str]:
    """Return the sentences of a docstring's "Args:", by the argument's name, on one line each."""
    doc = inspect.getdoc(member) or ""
    _, _, args = doc.partition("Args:\n")
    found: dict[str, str] = {}
    last = None
    for line in args.splitlines():
        if not line.strip():
            break
        start = re.match(r"    (\w+): (.*)", line)
        if start is not None:
            last = start[1]
            found[last] = start[2]
        elif last is not None:
            found[last] += " " + line.strip()
    return found


def _option(field: Any, hint: Any, text: str) -> Option:
    kind, many = _kind_of(hint)
    missing = field.default is MISSING and field.default_factory is MISSING
    return Option(
        name=field.metadata.get("option", field.name).replace("_", "-"),
        field=field.name,
        kind=kind,
        many=many,
        default=None if missing or field.default is MISSING else field.default,
        required=missing,
        text=text,
    )


def _kind_of(hint: Any) -> tuple[type, bool]:
    """Return the plain kind behind an annotation such as `float | None` or `tuple[int, ...]`, and whether many."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint, *_) = (arg for arg in get_args(hint) if arg is not type(None))
    if get_origin(hint) is not None:
        return get_args(hint)[0], True
    return hint, False
