"""What a card says about a network that is code of the user's own: its class, and how to make one, if that is known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, Field

from smoothcert.errors import InvalidArgumentError
from smoothcert.fields import STRICT, Text
from smoothcert.on_demand import nn
from smoothcert.visible import brief

Scalar = bool | int | float | Text | None
Arguments = Annotated[dict[Text, Scalar], Field(max_length=1_000)]


class CodeEntry(BaseModel):
    """The code behind weights, by name.

    Not the code itself, and no permission to run any: whoever loads the folder hands the module in, or names the
    factory that may make it.

    Args:
        module: of the class, dotted, and its qualified name, for people to recognise it.
        factory: "path/file.py:make" or "package.module:make", which made the module; None for one given in Python.
        arguments: of that call, by name; plain values.
        fingerprint: of the code, structure and settings of the module that the weights were kept with, 16 hex digits;
            None in cards that were written before there was one.
    """

    model_config = STRICT

    module: Text
    factory: Text | None = None
    arguments: Arguments = Field(default_factory=dict)
    fingerprint: Text | None = None

    @property
    def class_name(self) -> str:
        """The last part of the class's name: what a card calls the architecture."""
        return self.module.rpartition(".")[2]

    @classmethod
    def of(
        cls, module: nn.Module, factory: str | None = None, arguments: Mapping[str, Scalar] | None = None
    ) -> CodeEntry:
        """Return the entry of a module, and of the factory that made it.

        Args:
            module: the network, without what was put before it.
            factory: as in the entry.
            arguments: as in the entry.
        """
        kind, plain = type(module), dict(arguments or {})
        for name, value in plain.items():
            if not isinstance(value, bool | int | float | str | None):
                raise InvalidArgumentError(
                    f"the factory's argument {name} must be a plain value to be kept in a card, got {brief(value)}; "
                    "give a number, a text, True, False or None"
                )
        from smoothcert.networks import kept_fingerprint  # here, because it needs torch, and cards do not

        return cls(
            module=f"{kind.__module__}.{kind.__qualname__}",
            factory=factory,
            arguments=plain,
            fingerprint=kept_fingerprint(module),
        )
