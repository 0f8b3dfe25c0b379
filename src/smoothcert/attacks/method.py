"""A way to attack, with what it is made of: budgets and costs are told before the first step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import torch
from smoothcert.registry import Registry


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
            others = [other for other in METHODS if METHODS[other].steps is not None]
            raise InvalidArgumentError(
                f"steps must be left out with method {name}, whose budget is the published one ({budget}), got "
                f"{steps}; leave it out, or choose method {' or '.join(others)}"
            )
        return self.steps if steps is None else steps

    def check(self, name: str, classes: int, shape: tuple[int, ...]) -> None:
        """Refuse a classifier that the method cannot attack as a whole: a part of it must not go by its name."""
        reason = self._obstacle(classes, shape)
        if reason is not None:
            others = [other for other in METHODS if METHODS[other]._obstacle(classes, shape) is None]
            raise InvalidArgumentError(f"method {name} {reason}; attack with method {' or '.join(others)}")

    def _obstacle(self, classes: int, shape: tuple[int, ...]) -> str | None:
        """Return why a classifier cannot be attacked this way, to follow the method's name; None if it can."""
        if classes < self.least_classes:
            needs = f"needs at least {self.least_classes} classes ({self.why_classes})"
            return f"{needs}, the classifier has {classes}"
        if self.images_only and (len(shape) != 3 or min(shape) < 1):
            needs = "moves windows of pixels (square) and needs images of channels x height x width"
            return f"{needs}, got shape {shape}"
        return None


METHODS: Registry[Method] = Registry("attack method", "smoothcert.attacks.methods", Method)
