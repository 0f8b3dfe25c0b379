"""The table of ways to attack: gradient ascent, the smallest change, and AutoAttack as a whole and in its parts."""

from __future__ import annotations

from smoothcert.attacks import autoattack
from smoothcert.attacks.attack import Attack
from smoothcert.attacks.ddn import ddn
from smoothcert.attacks.method import Method, Part
from smoothcert.attacks.pgd import pgd
from smoothcert.registry import Table

METHODS: Table[Method] = Table("attack method")

_STEPS = 20


def _stepwise(name: str, search: Attack) -> Method:
    def parts(steps: int | None, classes: int) -> tuple[Part, ...]:
        count = _STEPS if steps is None else steps
        return (Part(name, f"{count} steps", 2 * count),)

    return Method(search, parts, steps=_STEPS)


METHODS.register("pgd")(_stepwise("pgd", pgd))
METHODS.register("ddn")(_stepwise("ddn", ddn))
METHODS.register("autoattack")(autoattack.method(*autoattack.SEARCHES))
for _name in autoattack.SEARCHES:
    METHODS.register(_name)(autoattack.method(_name))
