"""The user's own module: handed in, trained as a copy, and filled with the result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from smoothcert.arguments import check_kind, check_number
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.folders import (
    CodeEntry,
    ModuleSource,
    copy_module,
    module_source,
    read_card,
)
from smoothcert.networks import code_fingerprint, weights_digest, with_normalisation
from smoothcert.training.config import TrainConfig
from smoothcert.training.own.module_checks import refuse_answers, refuse_unfit
from smoothcert.visible import brief

Make = Callable[[], nn.Module]


class OwnModule:
    """A module that was handed in, or a function that makes one, with the layer that goes before it.

    Not changed here: it is asked and trained as a copy.

    Args:
        given: a module, whose weights are the start; or a function without arguments, called under the seed.
        train_set: images that it is to be trained on.
        mean: per channel, in pixel units, of a layer to put before it; None for none.
        std: likewise.
    """

    def __init__(
        self,
        given: nn.Module | Make,
        train_set: Dataset,
        mean: Sequence[float] | None,
        std: Sequence[float] | None,
    ) -> None:
        if (mean is None) != (std is None):
            raise InvalidArgumentError(
                f"mean and std belong together, got mean={brief(mean)} and std={brief(std)}; give both or neither"
            )
        self.given, self._shape = given, train_set.input_shape
        self.mean, self.std = numbers("mean", mean), numbers("std", std)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)  # of a module that is made, to be looked at only
            self.example = self.bare()
        refuse_unfit(self.example)
        refuse_answers(self.with_first_layer(copy_module(self.example)), train_set)

    @property
    def name(self) -> str:
        """The dotted module and the qualified name of its class."""
        return CodeEntry.of(self.example).module

    @property
    def first_weights(self) -> str | None:
        """Digest of the weights that it starts from; None where a function makes it, because the seed decides them."""
        return weights_digest(self.given) if isinstance(self.given, nn.Module) else None

    @property
    def code(self) -> str:
        """Fingerprint of code and structure, and of which weights are frozen."""
        frozen = [name for name, weights in self.example.named_parameters() if not weights.requires_grad]
        return code_fingerprint((self.example, frozen))

    def bare(self) -> nn.Module:
        """Return a copy of the module, or a new one, without the layer before it."""
        if isinstance(self.given, nn.Module):
            return copy_module(self.given)
        try:
            made = self.given() if callable(self.given) else self.given
        except SmoothcertError:
            raise
        except Exception as error:  # whatever the user's own code raises
            raise InvalidArgumentError(
                f"module cannot be made by calling {brief(self.given, 60)} without arguments: {type(error).__name__}: "
                f"{brief(str(error), 200)}; give a module, or a function that makes one"
            ) from error
        if not isinstance(made, nn.Module):
            got = f"one that makes {brief(made, 60)}" if callable(self.given) else brief(made, 60)
            raise InvalidArgumentError(
                f"module must be a torch module, or a function or class that makes one without arguments, got {got}"
            )
        return made

    def first_model(self, config: TrainConfig, train_set: Dataset) -> nn.Module:
        """Return what is trained, with its first weights."""
        return self.with_first_layer(self.bare())

    def with_first_layer(self, module: nn.Module) -> nn.Module:
        """Return the module behind the layer that normalises, if there is one."""
        if not self.mean:
            return module
        device = next((weights.device for weights in module.parameters()), None)
        return with_normalisation(module, self._shape, self.mean, self.std).to(device)

    def source(self) -> ModuleSource:
        """Return what answers for the module when its folder is read."""
        return module_source(self.example)

    def after_training(self, config: TrainConfig, folder: Path) -> TrainConfig:
        """Return the configuration of the training in a folder where the module already holds its result.

        What it started from is then what the folder says: to ask again for what was trained a moment ago is no fault.

        Args:
            config: made of the module as it is.
            folder: of a finished training.
        """
        card = read_card(folder)
        known = card.training.get("own")
        if config.own is None or not isinstance(known, dict) or self.first_weights is None:
            return config
        if weights_digest(self.with_first_layer(self.bare())) != card.digest:
            return config
        return config.changed(own={**config.own.model_dump(), "module_weights": known.get("module_weights")})

    def filled(self, model: nn.Module) -> nn.Module:
        """Give the module that was handed in the weights of a trained copy, and return it, its first layer before it.

        Args:
            model: what `first_model` returned, trained.
        """
        if not isinstance(self.given, nn.Module):
            return model.eval()
        trained = model.get_submodule("network") if self.mean else model
        self.given.load_state_dict(trained.state_dict())
        return self.with_first_layer(self.given).eval()


def numbers(name: str, values: Any) -> tuple[float, ...]:
    """Return the numbers of a first layer, one per channel; none for None."""
    if values is None:
        return ()
    plain = values.tolist() if isinstance(values, np.ndarray | torch.Tensor) else values
    check_kind(name, plain, (list, tuple), "a list of numbers, one per channel")
    if not plain:
        raise InvalidArgumentError(f"{name} must be a list of numbers, one per channel, got none")
    return tuple(check_number(name, one, what="a list of finite numbers, one per channel") for one in plain)
