"""What a user says about a model of their own, where no card does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_kind, check_path
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.own.factory import Scalar
from smoothcert.networks import checked_classes, checked_shape
from smoothcert.visible import brief


@dataclass(frozen=True)
class Facts:
    """What is said about an ONNX file or a factory's network; None for what is left to be found out.

    Args:
        arguments: of the factory, by name; plain values.
        weights: file or model folder whose weights the factory's network gets; None for those it comes with.
        num_classes: number of classes; counted by asking the model where it is None.
        input_shape: shape of one image.
        mean: per channel, in pixel units, of a normalisation to put in front; None for a model that takes pixels.
        std: likewise.
        class_names: one name per class.
    """

    arguments: Mapping[str, Scalar] = field(default_factory=dict)
    weights: Path | None = None
    num_classes: int | None = None
    input_shape: tuple[int, ...] | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    class_names: tuple[str, ...] | None = None

    @classmethod
    def checked(cls, **given: Any) -> Facts:
        """Return what was given, each value refused by name where it is of another kind."""
        told = {name: value for name, value in given.items() if value is not None}
        if "arguments" in told:
            told["arguments"] = _plain(told["arguments"])
        if "weights" in told:
            told["weights"] = check_path("weights", told["weights"])
        if "num_classes" in told:
            checked_classes(told["num_classes"])
        for name in ("input_shape", "mean", "std", "class_names"):
            if name in told:
                check_kind(name, told[name], (tuple, list), "a list")
                told[name] = tuple(told[name])
        if "input_shape" in told:
            checked_shape(told["input_shape"])
        facts = cls(**told)
        facts.refuse_names(facts.num_classes)
        return facts

    def refuse_names(self, num_classes: int | None) -> None:
        """Refuse class names of another number than the classes."""
        names = self.class_names
        if names is not None and num_classes is not None and len(names) != num_classes:
            raise InvalidArgumentError(
                f"class_names has {len(names)} names for {num_classes} classes; give one for each"
            )

    def refuse_all(self, why: str, *names: str) -> None:
        """Refuse facts that say nothing here.

        Args:
            why: the end of the sentence that starts with the fact's name.
            names: of facts; all of them where none is named.
        """
        for name in names or tuple(vars(self)):
            if getattr(self, name) not in (None, {}):
                raise InvalidArgumentError(f"{name} {why}")


def check_normalisation(mean: Sequence[float] | None, std: Sequence[float] | None) -> bool:
    """Return whether a normalisation is given; refuse half of one, which is more often forgotten than meant."""
    if (mean is None) != (std is None):
        given, missing = ("mean", "std") if std is None else ("std", "mean")
        raise InvalidArgumentError(
            f"{given} is given without {missing}; give both, or neither for a model of pixels"
        )
    return mean is not None


def _plain(arguments: Any) -> dict[str, Scalar]:
    check_kind("arguments", arguments, Mapping, "a table of the factory's arguments by name")
    for name, value in arguments.items():
        if not isinstance(name, str) or not name.isidentifier():
            raise InvalidArgumentError(f"arguments must have names of Python's, got {brief(name)}")
        if not isinstance(value, str | int | float | bool | None):
            raise InvalidArgumentError(
                f"arguments must be plain values, got {name}={brief(value)}; build the network in a factory without "
                "that argument"
            )
    return dict(arguments)
