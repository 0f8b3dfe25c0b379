"""Factories that the user lets run now: the only way from a folder to code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from typing_extensions import override

from smoothcert.errors import CheckpointError, FactoryError, InvalidArgumentError
from smoothcert.folders.code_entry import Scalar
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.module_source import GivenModules, Modules, ModuleSource
from smoothcert.folders.own.argument_places import refuse_places
from smoothcert.folders.own.factory import build
from smoothcert.folders.own.factory_name import FactoryName, allowed, check_factories
from smoothcert.on_demand import nn


class PermittedFactories(ModuleSource):
    """Builds the modules of cards that name one of these factories, or none but the class that one of them makes.

    What runs is the factory that the user named, with the arguments of the card.

    Args:
        factories: that the user lets run.
    """

    def __init__(self, factories: Sequence[FactoryName]) -> None:
        self._factories, self._asked = tuple(factories), False

    @override
    def candidates(self, card: ModelCard, folder: Path) -> Sequence[nn.Module]:
        assert card.code is not None
        if card.code.factory is None:  # trained as a module in Python; the user says now what makes one
            self._asked = True
            return GivenModules([self._made(name, {}, folder) for name in self._factories]).candidates(
                card, folder
            )
        name = allowed(card.code.factory, self._factories)
        if name is None:
            raise CheckpointError(
                f"{folder} names the factory {card.code.factory}, and the one that may run is "
                f"{', '.join(map(str, self._factories))}; name the same one: --factory {card.code.factory}"
            )
        refuse_places(card.code.arguments, name, folder)
        self._asked = True
        return [self._made(name, card.code.arguments, folder)]

    @staticmethod
    def _made(name: FactoryName, arguments: Mapping[str, Scalar], folder: Path) -> nn.Module:
        model = build(name, arguments)
        if not isinstance(model, nn.Module):
            raise FactoryError(
                f"{name} returned a {type(model).__name__}, but the weights in {folder} need a module"
            )
        return model

    @override
    def refuse_unasked(self, folder: str | Path) -> None:
        if not self._asked:
            raise InvalidArgumentError(
                f"factories are given ({', '.join(map(str, self._factories))}), but {folder} names none; leave them out"
            )


def modules_of(module: Modules, factories: Sequence[str]) -> Modules:
    """Return what answers for the modules of folders: those given, or factories that may run; not both.

    Args:
        module: as for `load_model`.
        factories: names, such as "net.py:make".
    """
    names = check_factories(factories)
    if not names:
        return module
    if module is not None:
        raise InvalidArgumentError(
            "module and factories are both given; give the module, or let its factory run"
        )
    return PermittedFactories(names)
