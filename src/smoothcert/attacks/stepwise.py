"""Attacks whose gradient steps are chosen by who runs them: as methods, and by name for training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from smoothcert.attacks.attack import Attack
from smoothcert.attacks.method import METHODS, Method, Part
from smoothcert.errors import UnknownNameError
from smoothcert.visible import brief

_STEPS = 20


def stepwise(search: Attack) -> Method:
    """Return an attack as a method with 20 steps, unless others are chosen."""

    def parts(steps: int | None, classes: int) -> tuple[Part, ...]:
        count = _STEPS if steps is None else steps
        return (Part(search.__name__, f"{count} steps", 2 * count),)

    return Method(search, parts, steps=_STEPS)


class StepwiseAttacks:
    """Those of `METHODS` whose steps can be chosen, by name; training takes few of them in every step.

    Not a table of its own: it asks the methods.
    """

    def __getitem__(self, name: str) -> Attack:
        if name not in self:
            raise UnknownNameError(f"unknown attack {brief(name)}; known: {', '.join(self)}")
        return cast(Attack, METHODS[name].search)

    def __contains__(self, name: object) -> bool:
        return name in METHODS and METHODS[cast(str, name)].steps is not None

    def __iter__(self) -> Iterator[str]:
        return (name for name in METHODS if name in self)


ATTACKS = StepwiseAttacks()
