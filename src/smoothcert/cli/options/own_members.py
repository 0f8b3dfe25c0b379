"""Members of the user's own on the command line: what is said about the files and factories among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import folders, noise
from smoothcert.cli.options import own_model as opt
from smoothcert.errors import InvalidArgumentError


@dataclass(frozen=True)
class OwnMembers:
    """What is said about members that are no folders, alike for all, and which factories folders may run."""

    factory_args: opt.FactoryArgs = None
    member_weights: Annotated[
        list[str] | None,
        typer.Option(
            "--member-weights",
            help="Of a factory's network: safetensors, torch file or model folder; once per factory, in their order.",
            rich_help_panel=opt.PANEL,
        ),
    ] = None
    num_classes: opt.NumClasses = None
    input_shape: opt.InputShape = None
    mean: opt.Mean = None
    std: opt.Std = None
    factory: opt.Factory = None

    def weights(self) -> list[Path]:
        """Return where the weights of factories are."""
        return [Path(place) for place in self.member_weights or ()]

    def facts(self, members: Sequence[Path], law: noise.NoiseLaw | None) -> dict[str, Any]:
        """Return what was typed, as arguments of `Facts`; refuse it where all members are folders.

        Args:
            members: as they were typed.
            law: what the options of noise say.
        """
        read = {
            "arguments": opt.read_arguments(self.factory_args or ()) or None,
            **opt.read_facts(self.num_classes, self.input_shape, self.mean, self.std),
        }
        told = {name: value for name, value in read.items() if value is not None}
        if not any(map(folders.is_own, members)):
            typed = {**asdict(self), "noise": law, "factory": None}
            for name, value in typed.items():
                if value is not None:
                    raise InvalidArgumentError(
                        f"--{name.replace('_', '-')} is for members that are ONNX files or factories; the folders "
                        "here have cards that say it"
                    )
        return told

    def modules(self, members: Sequence[Path]) -> folders.Modules:
        """Return what answers for modules of folders: the factories that are members, and those that may run."""
        named = [
            str(member)
            for member in members
            if folders.is_own(member) and folders.FactoryName.read(member) is not None
        ]
        return folders.modules_of(None, [*named, *(self.factory or ())])
