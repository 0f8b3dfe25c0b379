"""Classifiers made of classifiers, which say themselves what the rest of the house asks about them."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.weights_digest import weights_digest

Run = Callable[[nn.Module, torch.Tensor], torch.Tensor]
"""Executes a module on a batch; what it returns stays as it is while others are executed."""
WholeParts = list[tuple[nn.Module, torch.Tensor]]
"""Modules, each with one example of what it reads."""


class Composite(nn.Module, ABC):
    """A classifier made of classifiers: an ensemble, several heads on a trunk, a denoiser with what stands behind it.

    Not for networks of layers. What is said here holds for one that is always run as a whole, whose weights say all
    about it and whose gradient is useful; members say otherwise where it is otherwise. Any module can be asked the
    same by the functions of this file.
    """

    folds_by_part: ClassVar[bool] = False
    """Whether its own steps cannot be traced, so that an engine transforms each of its children by itself."""

    @property
    @abstractmethod
    def evaluations_per_vote(self) -> int | tuple[int, ...]:
        """Most network evaluations that one vote can cost; one number per answer where it gives several."""

    @property
    def classifiers(self) -> tuple[nn.Module, ...]:
        """The classifiers whose answers it gives, in their order."""
        return (self,)

    @property
    def exits_early(self) -> bool:
        """Whether its votes differ in cost."""
        return False

    def digest(self) -> str:
        """Return the digest that its folder and its certificates carry."""
        return weights_digest(self)

    def whole_parts(self, example: torch.Tensor) -> WholeParts:
        """Return its largest parts that are always run as a whole.

        Args:
            example: one image.
        """
        return [(self, example)]

    def counted(self, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
        """Return logits (rows, classes) and network evaluations (rows,); both by answer where there are several.

        Args:
            batch: noisy images.
            run: executes one of `whole_parts`.
        """
        return run(self, batch), _constant(evaluations_of(self), batch)

    def record(self, identity_of: Callable[[nn.Module], str]) -> dict[str, Any] | None:
        """Return what a run's manifest says about its members and how they vote; None if it has none that vote.

        Args:
            identity_of: the identity of a module where it is certified alone.
        """
        return None

    def packages(self) -> dict[str, str]:
        """Return the versions of other packages whose members it is made with, by name."""
        return {}

    def surrogate(self) -> nn.Module:
        """Return a module with its weights whose gradient an attack can follow."""
        return self

    def stored_part(self) -> nn.Module:
        """Return the part whose weights are in its own model folder."""
        return self


def model_digest(model: nn.Module) -> str:
    """Return the digest that a model's folder and its certificates carry, of a classifier of any depth.

    For an ensemble it covers the rule, which no tensor holds, beside shares and members in their order; for an early
    exit its settings, for heads the trunk that they share.
    """
    return model.digest() if isinstance(model, Composite) else weights_digest(model)


def digest_of_parts(parts: Sequence[Any]) -> str:
    """Return the digest of plain values and of the digests of parts."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def classifiers_of(model: Any) -> tuple[Any, ...]:
    """Return the classifiers whose answers a model gives: itself, but for a panel."""
    return model.classifiers if isinstance(model, Composite) else (model,)


def evaluations_of(model: Any) -> int:
    """Return the most network evaluations that a vote of one classifier can cost.

    Only a `Composite` says what it costs; an attribute of that name on a user's model is its own.
    """
    each = model.evaluations_per_vote if isinstance(model, Composite) else 1
    if not isinstance(each, int):
        raise InvalidArgumentError(
            f"a {type(model).__name__} gives several answers to an image and is no member of anything; take one of its "
            "classifiers"
        )
    return each


def exits_early(model: Any) -> bool:
    """Return whether the votes of a model, or of a member of it at any depth, differ in cost."""
    return isinstance(model, Composite) and model.exits_early


def whole_parts(model: nn.Module, example: torch.Tensor) -> WholeParts:
    """Return the largest parts of a model that are always run as a whole; the model itself if it never exits.

    Args:
        model: any classifier or panel.
        example: one image; each part comes with one example of what it reads: the image, or features of it.
    """
    return model.whole_parts(example) if isinstance(model, Composite) else [(model, example)]


def counted(model: nn.Module, batch: torch.Tensor, run: Run) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a model's logits and the network evaluations of every row; of a multi-head network, those of heads.

    Evaluations are what a classifier costs by itself: a panel's ensembles are charged for their members, as they are.

    Args:
        model: a classifier: logits (rows, classes), evaluations (rows,); or a panel: (rows, answers, classes)
            and (rows, answers).
        batch: noisy images.
        run: executes one of `whole_parts(model)`.
    """
    return (
        model.counted(batch, run)
        if isinstance(model, Composite)
        else (run(model, batch), _constant(1, batch))
    )


def packages_of(model: Any) -> dict[str, str]:
    """Return the versions of other packages whose members a model is made with, by name."""
    return model.packages() if isinstance(model, Composite) else {}


def surrogate_of(model: nn.Module) -> nn.Module:
    """Return the network whose gradient an attack on a model follows: itself, if that is useful."""
    return model.surrogate() if isinstance(model, Composite) else model


def stored_part(model: nn.Module) -> nn.Module:
    """Return the part of a model whose weights are in its own folder."""
    return model.stored_part() if isinstance(model, Composite) else model


def _constant(each: int, batch: torch.Tensor) -> torch.Tensor:
    return torch.full((len(batch),), each, dtype=torch.int64, device=batch.device)
