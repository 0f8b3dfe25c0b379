"""What every training objective offers: named losses of a step; there is one loop for all of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar, Literal

from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import torch
from smoothcert.options import options_of
from smoothcert.registry import Registry
from smoothcert.training.steps.step import Step
from smoothcert.visible import brief

Trains = Literal["network", "members", "denoiser"]


class Objective(ABC):
    """A loss to minimise: its settings, and a function of a step.

    Not a trainer: it steps nothing and keeps no state between steps. An objective is a frozen dataclass in a file that
    has its name; its fields are the method's hyper-parameters (bool, int, float or str), each with a default. What
    else the house wants to know of it are the class variables and properties here.
    """

    summary: ClassVar[str]
    """One line for listings."""
    trains: ClassVar[Trains] = "network"
    """What it trains: a network, the members of an ensemble together, or a denoiser before a classifier."""
    default_model: ClassVar[str | None] = None
    """The network where none is named; None for that of `TrainConfig`."""
    batch_counts_images: ClassVar[bool] = False
    """Whether the stated batch counts images; else it counts noisy copies."""
    moves_images: ClassVar[bool] = False
    """Whether it moves images under noise that stays: possible where noise does not depend on the image."""
    least_heads: ClassVar[int] = 1
    """More where the loss needs a `MultiHead`."""

    @property
    def copies(self) -> int:
        """Noisy copies drawn per image, m."""
        return 1

    @property
    def cost(self) -> float:
        """Training passes per image; a pass for the gradient at the input alone counts two thirds."""
        return float(self.copies)

    @abstractmethod
    def loss(self, step: Step) -> dict[str, torch.Tensor]:
        """Return the named parts of the loss, scalars whose sum is minimised.

        Args:
            step: the model, the batch, the noise and the moment.
        """


def hyper_parameters(method: str) -> tuple[str, ...]:
    """Return the names of a method's settings."""
    return tuple(field.name for field in fields(OBJECTIVES[method]))  # type: ignore[arg-type]


def make_objective(method: str, settings: dict[str, Any]) -> Objective:
    """Build a method with its settings; one that it does not have is refused by name.

    Args:
        method: name in `OBJECTIVES`.
        settings: hyper-parameters that differ from its defaults, by name.
    """
    known = hyper_parameters(method)
    for name in settings:
        if name not in known:
            raise InvalidArgumentError(
                f"method {method!r} has no setting {brief(name)}; known: {', '.join(known) or 'none'}"
            )
    return OBJECTIVES[method](**settings)


def _check_fields(method: type[Objective]) -> None:
    if not is_dataclass(method):
        raise InvalidArgumentError(f"method {method.__name__} must be a frozen dataclass; decorate it")
    for option in options_of(method):
        if option.required:
            raise InvalidArgumentError(
                f"method {method.__name__} has a setting {option.field!r} without a default; give it one"
            )


OBJECTIVES: Registry[type[Objective]] = Registry(
    "method", "smoothcert.training.objectives", Objective, check=_check_fields
)
"""Training methods by name: a file each in `objectives/`, or an entry point of another package."""
