"""`smoothcert certify`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from smoothcert import certificates, data, report, store, workflows
from smoothcert.amounts import amount
from smoothcert.cli import options as opt
from smoothcert.cli.members import NOISE, PROCEDURE, choose_classifier, choose_procedure
from smoothcert.cli.told.run import telling_how_to_continue, told_end
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import TRIAL_SECONDS

GROUPS = (NOISE, PROCEDURE)
"""Options that come from members."""

_PREVIEW = "Preview"
_USUAL_SHARDS = 16  # of a plan that has as many images


@dataclass(frozen=True)
class Preview:
    """Whether to tell what the run would cost instead of running it."""

    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Try some images and print what the run would cost, as a range.",
            rich_help_panel=_PREVIEW,
        ),
    ] = False
    trial_seconds: Annotated[
        float,
        typer.Option(
            "--trial-seconds",
            help="Of --dry-run, about; more narrow the range.",
            min=0.5,
            max=3600.0,
            rich_help_panel=_PREVIEW,
        ),
    ] = TRIAL_SECONDS


@opt.unfolded
def certify(
    ctx: typer.Context,
    own: opt.OwnModel,
    source: opt.Source,
    subset: opt.Subset,
    running: opt.Running,
    preview: Preview,
    pieces: opt.Pieces,
    model: opt.ModelOrPlan = None,
    out: Annotated[
        Path | None, opt.folder_option("--out", text="Run folder to write; needed but for --dry-run.")
    ] = None,
    with_members: Annotated[
        bool,
        typer.Option(
            "--with-members",
            help="Certify an ensemble's members too, from the same passes: runs OUT/member-0, .., OUT/ensemble.",
        ),
    ] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Continue the run in --out, or start it.")] = False,
    ray: opt.Ray = None,
) -> None:
    """Certify images of a data set, or of a file or folder of your own, into a run folder.

    Killed at any moment, the same command with --resume continues and ends with the same certificates. Exit code 1: the
    model failed on some images, which --resume tries again; 3: stopped by --max-votes or --max-minutes; 130: by Ctrl-C,
    143: by SIGTERM, each with what was counted kept.

    Example:

      smoothcert certify demo/models/ensemble --dataset digits --first 100 --procedure sequential
      --radii 0,0.25,0.5 --out runs/ensemble

      smoothcert certify demo/models/ensemble --first 100 --n 1000 --with-members --out runs/compared

      smoothcert certify net.onnx --sigma 0.25 --dataset cifar10 --data-dir data --mean 0.49,0.48,0.45
      --std 0.25,0.24,0.26 --out runs/net

      smoothcert certify net.py:make --factory-args depth=20 --weights net.pt --sigma 0.25 --dataset digits
      --out runs/own

      smoothcert certify models/mine --dataset my.npz --every 20 --max 500 --out runs/mine

      smoothcert certify models/mine --dataset cifar10 --data-dir data --plan runs/plan.json

      smoothcert certify --from runs/plan.json --shard 3/16 --out runs/shard-3
      smoothcert certify models/mine --dataset my.npz --out runs/mine --resume --ray auto
    """
    pieces.refuse_beside(
        {
            "--procedure or what belongs to it": bool(set(PROCEDURE.given(ctx)) - {PROCEDURE.key}),
            "--noise or what belongs to it": bool(NOISE.given(ctx)),
            "choosing images": subset.is_chosen,
            "--with-members": with_members,
            "--dry-run": preview.dry_run,
            **{
                f"--{name}": _is_typed(ctx, name)
                for name in ("procedure", "alpha", "seed", "engine", "split")
            },
        }
    )
    if ray is not None and (preview.dry_run or pieces.plan is not None):
        told = "--dry-run tries images" if preview.dry_run else "--plan checks the model"
        raise InvalidArgumentError(f"{told} on this machine; leave --ray out")
    if out is None and not preview.dry_run and pieces.plan is None:
        raise InvalidArgumentError(
            "--out is missing; give the folder to write the run to, such as --out runs/a"
        )
    how = {**running.settings(), **opt.where(ray, running.workers), **pieces.limits()}
    how |= {"resume": resume, "show_progress": True}
    if pieces.from_plan is not None:
        assert out is not None
        facts = {} if model is None else own.told(model)
        _from_plan(store.read_plan(pieces.from_plan), model, facts, source, pieces.shard or "1/1", out, how)
        return
    if model is None:
        raise InvalidArgumentError(
            "MODEL is missing; give the folder or file of a model, or a plan with --from"
        )
    procedure = choose_procedure(PROCEDURE.given(ctx))
    images = source.load(model, own.weights)
    classifier = choose_classifier(model, NOISE.given(ctx), own.facts(model, images))
    picked = subset.pick(images)
    if preview.dry_run:
        _preview(classifier, images, picked, procedure, preview.trial_seconds, running)
    elif pieces.plan is not None:
        _plan(classifier, images, picked, procedure, pieces, running)
    else:
        assert out is not None
        how |= {"procedure": procedure, "indices": picked}
        with telling_how_to_continue(out):
            if with_members:
                classifier, folders = certificates.panel_classifier(model, classifier)
                outs = {name: out / name for name in folders}
                members = workflows.certify_panel(classifier, images, outs=outs, folders=folders, **how)
                runs = {str(outs[name]): run for name, run in members.items()}
            else:
                runs = {
                    str(out): workflows.certify(classifier, images, out=out, extends=pieces.extend, **how)
                }
            told_end(runs)


def _is_typed(ctx: typer.Context, name: str) -> bool:
    source = ctx.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def _from_plan(
    plan: store.RunPlan,
    model: Path | None,
    facts: dict[str, Any],
    source: opt.Source,
    shard: str,
    out: Path,
    how: dict[str, Any],
) -> None:
    classifier, images = workflows.load_planned(plan, model, facts, source.dataset, source.data_dir)
    how = {key: value for key, value in how.items() if key not in ("alpha", "seed", "engine")}
    with telling_how_to_continue(out):
        run = workflows.certify_shard(classifier, images, plan, shard=shard, out=out, **how)
        told_end({str(out): run})


def _preview(
    classifier: certificates.SmoothedClassifier,
    images: data.Dataset,
    picked: Sequence[int],
    procedure: certificates.Procedure,
    seconds: float,
    running: opt.Running,
) -> None:
    started = time.process_time()  # in the end a run takes as long to get here
    how = running.settings()
    report.print_preview(
        workflows.preview_run(classifier, images, picked, procedure, seconds=seconds, started=started, **how)
    )


def _plan(
    classifier: certificates.SmoothedClassifier,
    images: data.Dataset,
    picked: Sequence[int],
    procedure: certificates.Procedure,
    pieces: opt.Pieces,
    running: opt.Running,
) -> None:
    assert pieces.plan is not None
    how = {key: value for key, value in running.settings().items() if key in ("alpha", "seed", "engine")}
    plan = workflows.plan_run(
        classifier, images, pieces.plan, procedure=procedure, indices=picked, extends=pieces.extend, **how
    )
    planned = len(plan.manifest["indices"])
    report.say(
        f"{plan.path}: {amount(planned, 'image')}, engine {plan.manifest['engine']}. It holds the secret "
        "seed of the noise: keep it to yourself until the run is published."
    )
    report.say(
        f"draw a share of it with: smoothcert certify --from {plan.path} --shard 1/{min(planned, _USUAL_SHARDS)} "
        "--out runs/shard-1"
    )
