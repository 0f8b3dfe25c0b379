"""Options that several commands share, and what they are turned into."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.certificates import PROCEDURES, Procedure, SmoothedClassifier, load_classifier
from smoothcert.cli.paths import path_argument, path_option
from smoothcert.data import DATASETS, Dataset, load_dataset
from smoothcert.engines import ENGINES
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import trained_on
from smoothcert.noise import NOISE_LAWS, NoiseLaw
from smoothcert.seeding import check_seed
from smoothcert.visible import brief

ModelFolder = Annotated[Path, path_argument("MODEL", "Folder of a model or of an ensemble.")]
DatasetName = Annotated[
    str | None, typer.Option("--dataset", help="Name of the data set; the model's own by default.")
]
DataDir = Annotated[Path | None, path_option("--data-dir", text="Where the data set's files are.")]
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
Keep = Annotated[
    float | None,
    typer.Option("--keep", help="Probability that l0 noise (discrete) leaves a coordinate as it is."),
]
Levels = Annotated[
    int | None,
    typer.Option("--levels", help="Values of a coordinate under l0 noise: 2 black and white, 256 bytes."),
]
Sound = Annotated[
    bool,
    typer.Option(
        "--sound",
        help="Float-safe noise in place of Gaussian: on the 1/255 grid, for 8-bit images (grid-gaussian).",
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


def load_images(model: Path, name: str | None, data_dir: Path | None) -> Dataset:
    """Read the test split of a data set: the named one, or that which a model, or all of its members, learnt from."""
    if name is None:
        names = trained_on(model)
        if len(names) > 1 or names[0] not in DATASETS:
            raise InvalidArgumentError(
                f"--dataset is needed: {model} was trained on {', '.join(map(brief, names))}, and "
                f"{'its members must agree' if len(names) > 1 else 'no data set has that name'} to leave it out; "
                f"known: {', '.join(DATASETS)}"
            )
        name = names[0]
    return load_dataset(name, split="test", data_dir=data_dir)


def choose_classifier(
    model: Path,
    noise: str | None = None,
    sigma: float | None = None,
    *,
    keep: float | None = None,
    levels: int | None = None,
    sound: bool = False,
) -> SmoothedClassifier:
    """Load a model folder, under its own noise or under what the options say."""
    classifier = load_classifier(model)
    given = {"sigma": sigma, "keep": keep, "levels": levels}
    if noise is None and not any(value is not None for value in given.values()) and not sound:
        return classifier
    law = _choose_noise(classifier.noise, noise, given)
    return load_classifier(model, noise=law.float_safe() if sound else law)


def _choose_noise(trained: NoiseLaw, name: str | None, given: dict[str, Any]) -> NoiseLaw:
    """Build a law from what was given; what was not is taken from the training, where it has such a thing."""
    kind = NOISE_LAWS[trained.law_name if name is None else name]
    takes = {option.name for option in kind.options()}
    known = {option: value for option, value in trained.option_values().items() if option in takes}
    said = {option: value for option, value in given.items() if value is not None}
    return kind.from_options(known | said)


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


def choose_procedure(name: str, **options: Any) -> Procedure:
    """Make a procedure from the options that were given (not None); refuse those it does not take."""
    kind = PROCEDURES[name]
    for option in kind.options():
        if option.many and isinstance(options.get(option.name), str):
            options[option.name] = option.read(options[option.name])
    return kind.from_options(options)


def read_numbers(option: str, text: str, kind: type[int] | type[float] = float) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        example = "100,1000,10000" if kind is int else "0,0.25,0.5"
        raise InvalidArgumentError(
            f"{option} must be numbers separated by commas such as {example}, got {brief(text)}"
        ) from None
