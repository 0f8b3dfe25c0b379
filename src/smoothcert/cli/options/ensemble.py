"""Options of `smoothcert ensemble` that belong together: voting, choosing on a hold-out, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import data, ensembles, folders
from smoothcert.cli.options import running as opt
from smoothcert.cli.options.images import Subset
from smoothcert.errors import InvalidArgumentError

_CHOOSING, _CLAIMS = "Choosing on hold-out images", "Claims without certificates"


@dataclass(frozen=True)
class Voting:
    """How members vote."""

    rule: Annotated[
        str | None,
        typer.Option(
            "--rule", help=f"{', '.join(ensembles.VOTING_RULES)}; soft by default, softmax with --fit."
        ),
    ] = None
    weights: Annotated[
        str | None, typer.Option("--weights", help="One number per member, W1,W2,..; equal by default.")
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return them as arguments of `make_ensemble`."""
        read = None if self.weights is None else opt.read_numbers("--weights", self.weights)
        return {"rule": self.rule, "weights": read}


@dataclass(frozen=True)
class Choosing:
    """What is chosen on hold-out images, and on which."""

    fit: Annotated[
        str | None,
        typer.Option(
            "--fit",
            help=f"Choose weights on hold-out images: {', '.join(ensembles.WEIGHT_FITS)}.",
            rich_help_panel=_CHOOSING,
        ),
    ] = None
    order_by_holdout: Annotated[
        bool,
        typer.Option(
            "--order-by-holdout",
            help="Most accurate on noisy hold-out images first.",
            rich_help_panel=_CHOOSING,
        ),
    ] = False
    images: Annotated[
        int | None,
        typer.Option(
            "--images",
            help="Hold-out images to use; 2,000 by default, 200 for esbrs.",
            rich_help_panel=_CHOOSING,
        ),
    ] = None

    def settings(
        self, dataset: str | None, data_dir: Path | None, draws: int | None, members: Sequence[Path]
    ) -> dict[str, Any]:
        """Return them as arguments of `make_ensemble`.

        Args:
            dataset: whose hold-out images choose.
            data_dir: where its files are.
            draws: noisy copies of each image; None for the default.
            members: folders that held out images.
        """
        chooses = self.fit is not None or self.order_by_holdout
        if chooses and dataset is None:
            raise InvalidArgumentError(
                "--fit and --order-by-holdout need hold-out images: add --dataset digits"
            )
        for name, value in {"dataset": dataset, "images": self.images, "draws": draws}.items():
            if value is not None and not chooses:
                raise InvalidArgumentError(
                    f"--{name} is for choosing on hold-out images: add --fit sween, --fit esbrs or --order-by-holdout"
                )
        holdout = None if dataset is None else _holdout_images(dataset, data_dir, members)
        return {**asdict(self), "dataset": holdout, "draws": 10 if draws is None else draws}


@dataclass(frozen=True)
class Claims:
    """What is claimed about test images with weights chosen at each of them."""

    per_input: Annotated[
        bool,
        typer.Option(
            "--per-input",
            help="NO CERTIFICATE: what EsbRS claims about test images with weights chosen at each of them, as "
            "published. Writes no ensemble; the options here and those of test images are its own.",
            rich_help_panel=_CLAIMS,
        ),
    ] = False
    n: Annotated[
        int | None,
        typer.Option("--n", help="Votes of a claim; 100,000 by default.", rich_help_panel=_CLAIMS),
    ] = None
    alpha: Annotated[
        float | None,
        typer.Option(
            "--alpha", help="Error probability of its bound; 0.001 by default.", rich_help_panel=_CLAIMS
        ),
    ] = None
    by_label: Annotated[
        bool,
        typer.Option(
            "--by-label",
            help="Choose weights with the true label in sight, as the paper does.",
            rich_help_panel=_CLAIMS,
        ),
    ] = False

    def check(self, subset: Subset, making: Mapping[str, Any]) -> None:
        """Refuse options of claims where an ensemble is made, and the other way round.

        Args:
            subset: of test images; belongs to claims.
            making: what makes an ensemble, by option.
        """
        if self.per_input:
            _refuse(making, "makes an ensemble: leave out")
        else:
            own = {**asdict(subset), "n": self.n, "alpha": self.alpha, "by-label": self.by_label}
            _refuse(own, "is about claims without certificates: add")


def typed(*options: Any) -> dict[str, Any]:
    """Return the values of dataclasses of options, by the names that are typed."""
    return {
        field.name.replace("_", "-"): getattr(group, field.name)
        for group in options
        for field in fields(group)
    }


def _refuse(options: Mapping[str, Any], why: str) -> None:
    """Refuse options that do not go with, or without, --per-input."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InvalidArgumentError(f"--{name} {why} --per-input, or leave --{name} out")


def _holdout_images(name: str, data_dir: Path | None, members: Sequence[Path]) -> data.Dataset:
    """Read the images that the members held out."""
    size = ensembles.common_holdout(folders.read_any_card(member) for member in members)
    return data.load_dataset(name, "holdout", data_dir, holdout=size)
