"""`smoothcert ensemble`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert.cli import options as opt
from smoothcert.cli.paths import folder_option, path_argument
from smoothcert.cli.per_input import run_per_input
from smoothcert.data import Dataset, load_dataset
from smoothcert.ensembles import EARLY_EXITS, VOTING_RULES, WEIGHT_FITS, EarlyExit, common_holdout
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import EnsembleCard, make_ensemble, make_prefixes, read_any_card
from smoothcert.progress import progress
from smoothcert.report import say

_HOLDOUT = "Hold-out images"


def ensemble(
    members: Annotated[
        list[Path],
        path_argument("MEMBERS...", "Folders of models or of ensembles, or one multi-head network."),
    ],
    out: Annotated[Path, folder_option("--out", text="Folder to write the ensemble to.")],
    rule: Annotated[
        str | None,
        typer.Option("--rule", help=f"{', '.join(VOTING_RULES)}; soft by default, softmax with --fit."),
    ] = None,
    weights: Annotated[
        str | None, typer.Option("--weights", help="One number per member, W1,W2,..; equal by default.")
    ] = None,
    consensus: Annotated[
        int | None,
        typer.Option("--consensus", help="Ask the others only where the first K members disagree."),
    ] = None,
    adaptive: Annotated[
        bool, typer.Option("--adaptive", help="Stop asking once the mixture is clear (rule softmax).")
    ] = False,
    adaptive_threshold: Annotated[
        float | None,
        typer.Option(
            "--adaptive-threshold",
            help="T: top probability that lets the first member answer alone; .999 by default.",
        ),
    ] = None,
    adaptive_alpha: Annotated[
        float | None,
        typer.Option(
            "--adaptive-alpha", help="Level of the test that stops asking after the second; .05 by default."
        ),
    ] = None,
    prefixes: Annotated[
        bool,
        typer.Option(
            "--prefixes", help="An ensemble of the first k members for every k: folders OUT/k-1, OUT/k-2, .."
        ),
    ] = False,
    fit: Annotated[
        str | None,
        typer.Option("--fit", help=f"Choose weights on hold-out images: {', '.join(WEIGHT_FITS)}."),
    ] = None,
    order_by_holdout: Annotated[
        bool, typer.Option("--order-by-holdout", help="Most accurate on noisy hold-out images first.")
    ] = False,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help=f"{_HOLDOUT} of this data set choose.")
    ] = None,
    data_dir: opt.DataDir = None,
    images: Annotated[
        int | None, typer.Option("--images", help=f"{_HOLDOUT} to use; 2,000 by default, 200 for esbrs.")
    ] = None,
    draws: Annotated[
        int | None, typer.Option("--draws", help="Noisy copies of each image that chooses; 10 by default.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Of the hold-out's noise; drawn and recorded by default.")
    ] = None,
    per_input: Annotated[
        bool,
        typer.Option(
            "--per-input",
            help="NO CERTIFICATE: what EsbRS claims about test images with weights chosen at each of them, as "
            "published. Writes no ensemble; the options below are its own.",
        ),
    ] = False,
    every: Annotated[int | None, typer.Option("--every", help="Every K-th test image.")] = None,
    first: Annotated[int | None, typer.Option("--first", help="The first N test images.")] = None,
    indices: Annotated[str | None, typer.Option("--indices", help="Test images A:B.")] = None,
    n: Annotated[int | None, typer.Option("--n", help="Votes of a claim; 100,000 by default.")] = None,
    alpha: Annotated[
        float | None, typer.Option("--alpha", help="Error probability of its bound; 0.001 by default.")
    ] = None,
    by_label: Annotated[
        bool,
        typer.Option("--by-label", help="Choose weights with the true label in sight, as the paper does."),
    ] = False,
) -> None:
    """Make one classifier of several, or of the heads of one network; their folders stay where they are.

    Weights and order are chosen on the hold-out split, never on test images, and the folder records by which images.

    Example:

      smoothcert ensemble models/member-0 models/member-1 models/member-2 --consensus 2 --order-by-holdout
      --dataset digits --out models/consensus

      smoothcert ensemble models/member-0 models/member-1 --fit sween --adaptive --dataset digits --out models/sween

      smoothcert ensemble models/a models/b models/c --rule hard --weights 1,2,1 --out models/hard

      smoothcert ensemble models/member-* --prefixes --out models/by-size

      smoothcert ensemble models/five-heads --consensus 2 --order-by-holdout --dataset digits --out models/heads

      smoothcert ensemble models/a models/b --per-input --by-label --dataset digits --first 100 --out claims
    """
    claim: dict[str, Any] = {"every": every, "first": first, "indices": indices, "n": n, "alpha": alpha}
    if per_input:
        made = {"rule": rule, "weights": weights, "consensus": consensus, "fit": fit, "images": images}
        _refuse(
            {**made, "adaptive": adaptive, "order-by-holdout": order_by_holdout},
            "makes an ensemble: leave out",
        )
        run_per_input(
            members,
            out,
            dataset=dataset or "digits",
            data_dir=data_dir,
            draws=draws,
            by_label=by_label,
            seed=opt.choose_seed(seed),
            **claim,
        )
        return
    _refuse({**claim, "by-label": by_label}, "is about claims without certificates: add")
    chooses = fit is not None or order_by_holdout
    if chooses and dataset is None:
        raise InvalidArgumentError("--fit and --order-by-holdout need hold-out images: add --dataset digits")
    for name, value in {"dataset": dataset, "images": images, "draws": draws}.items():
        if value is not None and not chooses:
            raise InvalidArgumentError(
                f"--{name} is for choosing on hold-out images: add --fit sween, --fit esbrs or --order-by-holdout"
            )
    early_exit = _early_exit(consensus, adaptive, adaptive_threshold, adaptive_alpha)
    with progress("asking the members about noisy hold-out images", 100, shown=True) as show:
        found = (make_prefixes if prefixes else make_ensemble)(
            members,
            out,
            rule=rule,
            weights=None if weights is None else opt.read_numbers("--weights", weights),
            early_exit=early_exit,
            fit=fit,
            order_by_holdout=order_by_holdout,
            dataset=None if dataset is None else _holdout_images(dataset, data_dir, members),
            images=images,
            draws=10 if draws is None else draws,
            seed=opt.choose_seed(seed),
            on_progress=lambda done, total: show(100 * done // total, "per cent"),
        )
    for folder, card in (found if isinstance(found, dict) else {out: found}).items():
        say(_sentence(card, folder))


def _early_exit(
    consensus: int | None, adaptive: bool, threshold: float | None, alpha: float | None
) -> EarlyExit | None:
    """Return when to stop asking; by adaptive prediction with the paper's settings where none are given."""
    given = {"adaptive-threshold": threshold, "adaptive-alpha": alpha}
    for name, value in given.items():
        if value is not None and not adaptive:
            raise InvalidArgumentError(f"--{name} is for adaptive prediction: add --adaptive")
    for option in EARLY_EXITS["adaptive"].options():
        value = given[option.name]
        if value is not None and not 0 < value < 1:
            raise InvalidArgumentError(
                f"--{option.name} must lie strictly between 0 and 1, got {value!r}; the paper has {option.default}"
            )
    if consensus is not None and adaptive:
        raise InvalidArgumentError("consensus and adaptive both stop early; choose one of them")
    if adaptive:
        return EARLY_EXITS["adaptive"].from_options(given)
    return None if consensus is None else EARLY_EXITS["consensus"].from_options({"consensus": consensus})


def _refuse(options: dict[str, Any], why: str) -> None:
    """Refuse options that do not go with, or without, --per-input."""
    for name, value in options.items():
        if value is not None and value is not False:
            raise InvalidArgumentError(f"--{name} {why} --per-input, or leave --{name} out")


def _holdout_images(name: str, data_dir: Path | None, members: list[Path]) -> Dataset:
    """Read the images that the members held out."""
    size = common_holdout(read_any_card(member) for member in members)
    return load_dataset(name, "holdout", data_dir, holdout=size)


def _sentence(card: EnsembleCard, out: Path) -> str:
    """Say what the ensemble is."""
    count = len(card.members if card.heads is None else card.heads)
    who = f"{count} {'member' if card.heads is None else 'head'}{'s' if count > 1 else ''}"
    who += "" if card.heads is None else " of one network"
    parts = [f"{out}: {who}", f"rule {card.rule}"]
    if card.weights is not None:
        total = sum(map(abs, card.weights))
        parts.append("weights " + " ".join(f"{weight / total:.3f}" for weight in card.weights))
    if card.early_exit is not None:
        parts.append(card.early_exit.sentence())
    if card.heads is None and any(use.purpose == "order" for use in card.fitted):
        parts.append("in the order " + " ".join(member.path for member in card.members))
    for use in card.fitted:
        what = "order" if use.purpose == "order" else f"weights ({use.purpose})"
        parts.append(f"{what} chosen on {use.images} images of {use.dataset} ({use.split}), seed {use.seed}")
    return ". ".join([", ".join(parts), *_forecast(card)])


def _forecast(card: EnsembleCard) -> list[str]:
    """Say what the theory of margins expects of equal weights, where it was asked."""
    return [
        f"The theory expects equal weights to {'help' if mixed < alone else 'do harm'}: at most {mixed:.1%} wrong "
        f"votes on the hold-out, {alone:.1%} for the best member (bounds from estimated margins, no certificate)"
        for use in card.fitted
        if "uniform_bound" in use.found
        for mixed, alone in [(use.found["uniform_bound"], use.found["best_member_bound"])]
    ]
