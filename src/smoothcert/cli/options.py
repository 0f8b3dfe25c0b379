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
from smoothcert.noise import NOISE_LAWS, GridGaussian, NoiseLaw, choose_noise, parameters_of
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
    return load_classifier(model, noise=_float_safe(law) if sound else law)


def _choose_noise(trained: NoiseLaw, name: str | None, given: dict[str, Any]) -> NoiseLaw:
    """Build a law from what was given; what was not is taken from the training, where it has such a thing."""
    name = trained.law_name if name is None else name
    known: dict[str, Any] = {"sigma": trained.std} if trained.is_additive else trained.parameters()
    for parameter in parameters_of(name):
        if given[parameter] is None:
            given = {**given, parameter: known.get(parameter)}
    return choose_noise(name, **given)


def _float_safe(law: NoiseLaw) -> NoiseLaw:
    """Return the law whose certificates hold in floating point: on the grid for Gaussian; l0 draws are exact."""
    if law.law_name == "gaussian":
        return GridGaussian(law.std)
    if law.law_name in ("grid-gaussian", "discrete"):
        return law
    raise InvalidArgumentError(
        f"--sound has no float-safe form of noise {law.law_name!r}; use it with a model trained on Gaussian noise, "
        "or leave it out"
    )


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


# Which options each procedure takes, and what its argument is called.
_ARGUMENTS = {
    "fixed": {"n0": "n0", "n": "n", "runner-up": "runner_up"},
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
        given["radii"] = read_numbers("--radii", given["radii"], float)
    if "stages" in given:
        given["stages"] = read_numbers("--stages", given["stages"], int)
    return kind(**{takes[option]: value for option, value in given.items()})


def read_numbers(option: str, text: str, kind: type[int] | type[float] = float) -> tuple[float, ...]:
    """Read numbers with commas between them."""
    try:
        return tuple(kind(part) for part in text.split(","))
    except ValueError:
        example = "100,1000,10000" if kind is int else "0,0.25,0.5"
        raise InvalidArgumentError(
            f"{option} must be numbers separated by commas such as {example}, got {brief(text)}"
        ) from None
