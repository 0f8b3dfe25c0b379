"""Where the modules of folders come from whose networks are code of the user's own: loading a folder runs no code."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from torch import nn
from typing_extensions import override

from smoothcert.arguments import check_kind
from smoothcert.errors import CheckpointError, InvalidArgumentError, ModuleNeededError
from smoothcert.folders.model_card import ModelCard

_MODULE = "a torch module of the class that the folder's card names, or a list of several"


class ModuleSource(ABC):
    """Answers which modules the weights of a card may belong to, for cards with `code`.

    Not a look at weights: the first candidate that they fit is copied and filled, so that one module serves any number
    of folders and keeps its own weights.
    """

    @abstractmethod
    def candidates(self, card: ModelCard, folder: Path) -> Sequence[nn.Module]:
        """Return at least one module, the likeliest first; refuse a card that there is none for.

        Args:
            card: with `code`.
            folder: that it lies in, for messages.
        """

    @abstractmethod
    def refuse_unasked(self, folder: str | Path) -> None:
        """Refuse, after a folder was loaded, what was handed in and not needed.

        Args:
            folder: for messages.
        """


class NoModules(ModuleSource):
    """The source of whoever has given no module: refuses, and says what to give."""

    @override
    def candidates(self, card: ModelCard, folder: Path) -> Sequence[nn.Module]:
        assert card.code is not None
        factory = card.code.factory
        named = (
            f", or name what makes one: factories=['FILE.py:{card.architecture}'] "
            f"(--factory FILE.py:{card.architecture})"
            if factory is None
            else f", or let its factory run: factories=[{factory!r}] (--factory {factory})"
        )
        raise ModuleNeededError(
            f"{folder} holds weights of {card.code.module}, which is code that no folder runs by itself; give the "
            f"module, as in load_classifier({str(folder)!r}, module={card.architecture}(..)){named}"
        )

    @override
    def refuse_unasked(self, folder: str | Path) -> None:
        return None


class GivenModules(ModuleSource):
    """Modules that were handed in; each card takes those of its class, by the class's name alone.

    Args:
        modules: at least one.
    """

    def __init__(self, modules: Sequence[nn.Module]) -> None:
        self._modules, self._asked = tuple(modules), False

    @override
    def candidates(self, card: ModelCard, folder: Path) -> Sequence[nn.Module]:
        self._asked = True
        alike = [module for module in self._modules if type(module).__name__ == card.architecture]
        if not alike:
            given = ", ".join(type(module).__name__ for module in self._modules)
            raise CheckpointError(
                f"{folder} holds weights of a {card.architecture}, but module is {given}; give a {card.architecture}"
            )
        return alike

    @override
    def refuse_unasked(self, folder: str | Path) -> None:
        if not self._asked:
            raise InvalidArgumentError(
                f"module is given, but {folder} names a network that this package builds; leave module out"
            )


Modules = nn.Module | Sequence[nn.Module] | ModuleSource | None
"""What functions that load folders take as `module`."""


def module_source(module: Modules) -> ModuleSource:
    """Return what answers for the modules that were handed in.

    Args:
        module: a module, a list of modules, a source as it is, or None for none.
    """
    if module is None:
        return NoModules()
    if isinstance(module, ModuleSource):
        return module
    modules: list[Any] = list(module) if isinstance(module, list | tuple) else [module]
    for one in modules:
        check_kind("module", one, nn.Module, _MODULE)
    if not modules:
        raise InvalidArgumentError(f"module must be {_MODULE}, got an empty list; leave it out for none")
    return GivenModules(modules)
