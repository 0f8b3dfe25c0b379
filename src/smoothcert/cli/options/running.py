"""How votes are drawn: options that several commands share, and what they are turned into."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import engines
from smoothcert.cli.options.paths import path_argument, path_option
from smoothcert.errors import InvalidArgumentError
from smoothcert.seeding import check_seed
from smoothcert.visible import brief

ModelFolder = Annotated[
    Path,
    path_argument(
        "MODEL",
        "Folder of a model or of an ensemble; or net.onnx; or a Python factory, package.module:factory or "
        "path/file.py:factory, whose code then runs.",
    ),
]
ModelOrPlan = Annotated[
    Path | None,
    path_argument(
        "MODEL",
        "Folder of a model or of an ensemble; or net.onnx; or a Python factory, package.module:factory or "
        "path/file.py:factory, whose code then runs. With --from, where the plan says by default.",
    ),
]
DataDir = Annotated[Path | None, path_option("--data-dir", text="Where the data set's files are.")]
Alpha = Annotated[float, typer.Option("--alpha", help="Error probability per image, one-sided.")]
Seed = Annotated[
    str | None,
    typer.Option("--seed", help="Seed of all noise; drawn in secret by default, and told or recorded."),
]
Workers = Annotated[int | None, typer.Option("--workers", help="Threads; one per core by default.")]
Engine = Annotated[str, typer.Option("--engine", help=f"auto, {', '.join(engines.ENGINES)}.")]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", help="Most rows per forward pass; changes no vote.")
]


@dataclass(frozen=True)
class Running:
    """How votes are drawn."""

    alpha: Alpha = 0.001
    seed: Seed = None
    workers: Workers = None
    engine: Engine = "auto"
    batch_size: BatchSize = None

    def settings(self) -> dict[str, Any]:
        """Return them as the arguments of a run."""
        return {**asdict(self), "seed": choose_seed(self.seed)}


def choose_seed(seed: str | None) -> int | None:
    """Read a seed, which may be longer than what option parsers take for an integer."""
    if seed is None:
        return None
    try:
        number = int(seed)
    except ValueError:  # no integer, or one of thousands of digits
        raise InvalidArgumentError(
            f"--seed must be an integer from 0 to 2^128 - 1, got {brief(seed)}"
        ) from None
    return check_seed(number)


def read_numbers(option: str, text: str) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidArgumentError(
            f"{option} must be numbers separated by commas such as 0,0.25,0.5, got {brief(text)}"
        ) from None
