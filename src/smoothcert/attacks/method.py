"""A way to attack, with what it is made of: budgets and costs are told before the first step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from smoothcert.errors import InvalidArgumentError


@dataclass(frozen=True)
class Part:
    """One of the attacks that a method runs.

    Args:
        name: as in the literature.
        budget: how long it searches, in words.
        passes: forward passes per noise and image at most; a gradient counts as two.
    """

    name: str
    budget: str
    passes: int

    def __str__(self) -> str:
        return f"{self.name}: {self.budget}"


@dataclass(frozen=True)
class Method:
    """What `attack_images` knows of a way to attack.

    Args:
        search: an `Attack`; without the argument `steps` where the budget is the published one.
        parts: from the steps, where these are chosen, and the number of classes to what is run.
        steps: gradient steps by default; None where the budget is the published one and nobody's choice.
        least_classes: fewer cannot be attacked this way.
        why_classes: what needs them.
        images_only: the search moves windows of pixels, so vectors cannot be attacked.
    """

    search: Callable[..., torch.Tensor]
    parts: Callable[[int | None, int], tuple[Part, ...]]
    steps: int | None = None
    least_classes: int = 2
    why_classes: str = "an attack"
    images_only: bool = False

    def chosen_steps(self, name: str, steps: int | None) -> int | None:
        """Return the steps to take, None for the published budget; refuse to change that."""
        if self.steps is None and steps is not None:
            budget = "; ".join(map(str, self.parts(None, 10)))
            raise InvalidArgumentError(
                f"steps must be left out with method {name}, whose budget is the published one ({budget}), got "
                f"{steps}; leave it out, or choose method pgd"
            )
        return self.steps if steps is None else steps

    def check(self, name: str, classes: int, shape: tuple[int, ...]) -> None:
        """Refuse a classifier that the method cannot attack as a whole: a part of it must not go by its name."""
        if classes < self.least_classes:
            raise InvalidArgumentError(
                f"method {name} needs at least {self.least_classes} classes ({self.why_classes}), the classifier has "
                f"{classes}; attack with method apgd-ce or fab-t"
            )
        if self.images_only and (len(shape) != 3 or min(shape) < 1):
            raise InvalidArgumentError(
                f"method {name} moves windows of pixels (square) and needs images of channels x height x width, got "
                f"shape {shape}; attack with method apgd-ce, apgd-t or fab-t"
            )
