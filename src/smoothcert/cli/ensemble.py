"""`smoothcert ensemble`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import folders, report
from smoothcert.cli import options as opt
from smoothcert.cli.members import EXITS, NOISE, choose_early_exit, choose_noise
from smoothcert.cli.per_input import run_per_input
from smoothcert.cli.told.ensemble import ensemble_sentence
from smoothcert.progress import progress

GROUPS = (EXITS, NOISE)
"""Options that come from members."""


@opt.unfolded
def ensemble(
    ctx: typer.Context,
    members: Annotated[
        list[Path],
        opt.path_argument(
            "MEMBERS...",
            "Folders of models or of ensembles, or one multi-head network; net.onnx and factories are kept in "
            "OUT/member-0, ..",
        ),
    ],
    out: Annotated[Path, opt.folder_option("--out", text="Folder to write the ensemble to.")],
    own: opt.OwnMembers,
    voting: opt.Voting,
    choosing: opt.Choosing,
    claims: opt.Claims,
    subset: opt.Subset,
    prefixes: Annotated[
        bool,
        typer.Option(
            "--prefixes", help="An ensemble of the first k members for every k: folders OUT/k-1, OUT/k-2, .."
        ),
    ] = False,
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="Hold-out images of this data set choose.")
    ] = None,
    data_dir: opt.DataDir = None,
    draws: Annotated[
        int | None, typer.Option("--draws", help="Noisy copies of each image that chooses; 10 by default.")
    ] = None,
    seed: Annotated[
        str | None, typer.Option("--seed", help="Of the hold-out's noise; drawn and recorded by default.")
    ] = None,
) -> None:
    """Make one classifier of several, or of the heads of one network; their folders stay where they are.

    Members that are ONNX files or Python factories (package.module:factory, path/file.py:factory, whose code then
    runs) get folders of their own in OUT.

    Weights and order are chosen on the hold-out split, never on test images, and the folder records by which images.

    Example:

      smoothcert ensemble models/member-0 models/member-1 models/member-2 --consensus 2 --order-by-holdout
      --dataset digits --out models/consensus

      smoothcert ensemble models/member-0 models/member-1 --fit sween --adaptive --dataset digits --out models/sween

      smoothcert ensemble models/a models/b models/c --rule hard --weights 1,2,1 --out models/hard

      smoothcert ensemble models/member-* --prefixes --out models/by-size

      smoothcert ensemble models/five-heads --consensus 2 --order-by-holdout --dataset digits --out models/heads

      smoothcert ensemble models/a models/b --per-input --by-label --dataset digits --first 100 --out claims

      smoothcert ensemble a.onnx b.onnx --sigma 0.25 --out models/of-files
    """
    stops = EXITS.given(ctx)
    claims.check(subset, {**opt.typed(voting, choosing), **stops})
    number = opt.choose_seed(seed)
    if claims.per_input:
        where: dict[str, Any] = {
            "dataset": dataset or "digits",
            "data_dir": data_dir,
            "draws": draws,
            "seed": number,
        }
        run_per_input(members, out, claims=claims, subset=subset, **where)
        return
    law = choose_noise(None, NOISE.given(ctx))
    with folders.imported(members, out, law, own.weights(), own.facts(members, law)) as places:
        settings = {
            **choosing.settings(dataset, data_dir, draws, places),
            **voting.settings(),
            "early_exit": choose_early_exit(stops),
            "seed": number,
            "module": own.modules(members),
        }
        made = _make(places, out, prefixes, settings)
    for folder, card in made.items():
        report.say(ensemble_sentence(card, folder))


def _make(
    members: list[Path], out: Path, prefixes: bool, settings: dict[str, Any]
) -> dict[Path, folders.EnsembleCard]:
    """Make one ensemble, or one of the first members for every number of them; return their cards by folder."""
    make = folders.make_prefixes if prefixes else folders.make_ensemble
    with progress("asking the members about noisy hold-out images", 100, shown=True) as show:
        settings["on_progress"] = lambda done, total: show(100 * done // total, "per cent")
        made = make(members, out, **settings)
    return made if isinstance(made, dict) else {out: made}
