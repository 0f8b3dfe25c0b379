"""Models of the user's own on the command line: what is said about an ONNX file or a factory, where no card does."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import data, folders
from smoothcert.cli.options.paths import path_option
from smoothcert.cli.options.running import read_numbers
from smoothcert.errors import InvalidArgumentError
from smoothcert.reading import kind_of
from smoothcert.visible import brief

PANEL = "Own models (net.onnx, package.module:factory, path/file.py:factory)"
_WORDS = {"true": True, "false": False, "none": None, "null": None}

FactoryArgs = Annotated[
    list[str] | None,
    typer.Option(
        "--factory-args", help="Of the factory: NAME=VALUE,..; may be repeated.", rich_help_panel=PANEL
    ),
]
NumClasses = Annotated[
    int | None,
    typer.Option("--num-classes", help="Classes; counted by asking the model.", rich_help_panel=PANEL),
]
InputShape = Annotated[
    str | None,
    typer.Option(
        "--input-shape",
        help="Shape of one image, such as 3,32,32; the file's or the data set's by default.",
        rich_help_panel=PANEL,
    ),
]
Mean = Annotated[
    str | None,
    typer.Option(
        "--mean",
        help="Per channel, in pixel units: put a normalisation in front; none by default.",
        rich_help_panel=PANEL,
    ),
]
Std = Annotated[str | None, typer.Option("--std", help="Likewise.", rich_help_panel=PANEL)]
Factory = Annotated[
    list[str] | None,
    typer.Option(
        "--factory",
        help="Let this factory run, which the model folder names: no folder runs code by itself.",
        rich_help_panel=PANEL,
    ),
]


@dataclass(frozen=True)
class OwnModel:
    """What is said about a model that is no folder, and which factories a folder may run."""

    factory_args: FactoryArgs = None
    weights: Annotated[
        Path | None,
        path_option(
            "--weights",
            text="Of the factory's network: safetensors, torch file (tensors alone are read) or model folder.",
            panel=PANEL,
        ),
    ] = None
    num_classes: NumClasses = None
    input_shape: InputShape = None
    mean: Mean = None
    std: Std = None
    factory: Factory = None

    def facts(self, model: Path, images: data.Dataset | None = None) -> dict[str, Any]:
        """Return it as arguments of `load_classifier`.

        Args:
            model: as it was typed.
            images: whose shape is that of the model, where nobody says another.
        """
        told = self.told(model)
        from_folder = self.weights is not None and kind_of(self.weights) == "folder"
        if images is not None and folders.is_own(model) and "input_shape" not in told and not from_folder:
            told["input_shape"] = images.input_shape
        return told

    def told(self, model: Path) -> dict[str, Any]:
        """Return what was typed, as arguments of `load_classifier`."""
        given: dict[str, Any] = {
            "arguments": read_arguments(self.factory_args or ()) or None,
            "weights": self.weights,
            **read_facts(self.num_classes, self.input_shape, self.mean, self.std),
            "factories": self.factory,
        }
        return {name: value for name, value in given.items() if value is not None}


def read_facts(
    num_classes: int | None, input_shape: str | None, mean: str | None, std: str | None
) -> dict[str, Any]:
    """Return facts about a model with their numbers read, as arguments of `load_classifier`."""
    return {
        "num_classes": num_classes,
        "input_shape": None if input_shape is None else _shape(input_shape),
        "mean": None if mean is None else read_numbers("--mean", mean),
        "std": None if std is None else read_numbers("--std", std),
    }


def read_arguments(texts: Sequence[str]) -> dict[str, str | int | float | bool | None]:
    """Read NAME=VALUE,.. as a factory's arguments: numbers, true, false, none, and else texts."""
    read: dict[str, str | int | float | bool | None] = {}
    for pair in (pair for text in texts for pair in text.split(",")):
        name, equals, value = pair.partition("=")
        if not equals or not name.strip().isidentifier():
            raise InvalidArgumentError(
                f"--factory-args takes NAME=VALUE,.., got {brief(pair)}; for example num_classes=10,depth=20"
            )
        if name.strip() in read:
            raise InvalidArgumentError(f"--factory-args gives {name.strip()} twice; give it once")
        read[name.strip()] = _value(value.strip())
    return read


def _value(text: str) -> str | int | float | bool | None:
    if text.lower() in _WORDS:
        return _WORDS[text.lower()]
    for kind in (int, float):
        with contextlib.suppress(ValueError):
            return kind(text)
    quoted = len(text) >= 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text


def _shape(text: str) -> tuple[int, ...]:
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InvalidArgumentError(
            f"--input-shape must be whole numbers with commas between them such as 3,32,32, got {brief(text)}"
        ) from None
