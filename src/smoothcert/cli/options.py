"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from smoothcert.certificates import (
    PROCEDURES,
    FixedSample,
    GroupSequential,
    Procedure,
    Sequential,
    SmoothedClassifier,
    Staged,
    load_classifier,
)
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NOISE_LAWS, NoiseLaw

ModelFolder = Annotated[Path, typer.Argument(metavar="MODEL", help="Folder of a model or of an ensemble.")]
DatasetName = Annotated[str, typer.Option("--dataset", help="Name of the data set.")]
DataDir = Annotated[Path | None, typer.Option("--data-dir", help="Where the data set's files are.")]
NoiseName = Annotated[
    str | None,
    typer.Option("--noise", help=f"{', '.join(NOISE_LAWS)}; the model's own by default."),
]
Sigma = Annotated[
    float | None,
    typer.Option(
        "--sigma", help="Noise per coordinate (standard deviation, pixel units); the model's own by default."
    ),
]
Alpha = Annotated[float, typer.Option("--alpha", help="Error probability per image, one-sided.")]
Seed = Annotated[
    str | None, typer.Option("--seed", help="Seed of all noise; drawn in secret and recorded by default.")
]
Workers = Annotated[int | None, typer.Option("--workers", help="Threads; one per core by default.")]
Engine = Annotated[str, typer.Option("--engine", help="auto or torch.")]
BatchSize = Annotated[
    int | None, typer.Option("--batch-size", help="Most rows per forward pass; changes no vote.")
]


def choose_classifier(model: Path, noise: str | None, sigma: float | None) -> SmoothedClassifier:
    """Load a model folder, under its own noise or under what the options say."""
    classifier = load_classifier(model)
    if noise is None and sigma is None:
        return classifier
    return load_classifier(model, noise=_choose_noise(classifier.noise, noise, sigma))


def _choose_noise(trained: NoiseLaw, noise: str | None, sigma: float | None) -> NoiseLaw:
    law = type(trained) if noise is None else NOISE_LAWS[noise]
    return law.from_sigma(trained.std if sigma is None else sigma)


def choose_seed(seed: str | None) -> int | None:
    """Read a seed, which may be longer than what option parsers take for an integer."""
    if seed is None:
        return None
    try:
        return int(seed)
    except ValueError:
        raise InvalidArgumentError(f"--seed must be an integer from 0 to 2^128 - 1, got {seed!r}") from None


def choose_procedure(
    name: str,
    *,
    radius: float | None,
    radii: str | None,
    n0: int | None,
    n: int | None,
    stages: str | None,
    beta: float,
) -> Procedure:
    """Make a procedure from the options that belong to it; refuse the ones that do not."""
    kind = PROCEDURES[name]
    votes = {} if n0 is None else {"n0": n0}
    if kind is FixedSample:
        _refuse(name, {"--radius": radius, "--radii": radii, "--stages": stages})
        return FixedSample(**votes, **({} if n is None else {"n": n}))
    if kind is Sequential:
        _refuse(name, {"--stages": stages})
        cap = {} if n is None else {"max_samples": n}
        grid = None if radii is None else _numbers("--radii", radii)
        return Sequential(radius=radius, radii=grid, beta=beta, **votes, **cap)
    _refuse(name, {"--radii": radii})
    if radius is None:
        raise InvalidArgumentError(f"procedure {name!r} proves one radius: add --radius, e.g. --radius 0.25")
    if kind is Staged:
        _refuse(name, {"--n": n})
        chosen = {} if stages is None else {"stages": tuple(int(v) for v in _numbers("--stages", stages))}
        return Staged(radius=radius, beta=beta, **votes, **chosen)
    _refuse(name, {"--stages": stages})
    return GroupSequential(radius=radius, beta=beta, **votes, **({} if n is None else {"n": n}))


def _refuse(procedure: str, options: dict[str, object]) -> None:
    given = [option for option, value in options.items() if value is not None]
    if given:
        raise InvalidArgumentError(f"procedure {procedure!r} takes no {given[0]}; leave it out")


def _numbers(option: str, text: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(","))
    except ValueError:
        raise InvalidArgumentError(
            f"{option} must be numbers separated by commas such as 0,0.25,0.5, got {text!r}"
        ) from None
