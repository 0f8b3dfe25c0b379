"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.certificates import PROCEDURES, Procedure, SmoothedClassifier, load_classifier
from smoothcert.engines import ENGINES
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
        "--sigma",
        help="Standard deviation of the noise per coordinate, whatever its law (uniform: half width / 1.73, "
        "Laplace: scale x 1.41); the model's own by default.",
    ),
]
Alpha = Annotated[float, typer.Option("--alpha", help="Error probability per image, one-sided.")]
Seed = Annotated[
    str | None,
    typer.Option("--seed", help="Seed of all noise; drawn in secret by default, and told or recorded."),
]
Workers = Annotated[int | None, typer.Option("--workers", help="Threads; one per core by default.")]
Engine = Annotated[str, typer.Option("--engine", help=f"auto, {', '.join(ENGINES)}.")]
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


# Which options each procedure takes, and what its argument is called.
_ARGUMENTS = {
    "fixed": {"n0": "n0", "n": "n"},
    "staged": {"radius": "radius", "stages": "stages", "n0": "n0", "beta": "beta"},
    "sequential": {
        "radius": "radius",
        "radii": "radii",
        "n0": "n0",
        "n": "max_samples",
        "beta": "beta",
        "tolerance": "tolerance",
    },
    "group": {"radius": "radius", "n0": "n0", "n": "n", "beta": "beta"},
}


def choose_procedure(name: str, **options: Any) -> Procedure:
    """Make a procedure from the options that were given (not None); refuse those it does not take."""
    kind, takes = PROCEDURES[name], _ARGUMENTS[name]
    given = {option: value for option, value in options.items() if value is not None}
    for option in given:
        if option not in takes:
            raise InvalidArgumentError(
                f"procedure {name!r} takes no --{option}; it takes --{', --'.join(takes)}"
            )
    if "radius" in takes and "radii" not in takes and "radius" not in given:
        raise InvalidArgumentError(f"procedure {name!r} needs to know what to prove: add --radius 0.25")
    if "radii" in given:
        given["radii"] = _numbers("--radii", given["radii"], float)
    if "stages" in given:
        given["stages"] = _numbers("--stages", given["stages"], int)
    return kind(**{takes[option]: value for option, value in given.items()})


def _numbers(option: str, text: str, kind: type[int] | type[float]) -> tuple[float, ...]:
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        example = "100,1000,10000" if kind is int else "0,0.25,0.5"
        raise InvalidArgumentError(
            f"{option} must be numbers separated by commas such as {example}, got {text!r}"
        ) from None
