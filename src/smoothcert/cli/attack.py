"""`smoothcert attack`."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from smoothcert import attacks, certificates, folders, noise, report, store, workflows
from smoothcert.atomic import write_atomically
from smoothcert.cli import options as opt
from smoothcert.cli.members import NOISE, choose_classifier

GROUPS = (NOISE,)
"""Options that come from members."""

_SIGMAS = (0.5, 1.0, 1.5, 2.0, 3.0)  # default radii where no run says which


@dataclass(frozen=True)
class Attacking:
    """How images are attacked, and how an attempt is judged."""

    radii: Annotated[
        str | None,
        typer.Option("--radii", help="l2 radii R1,R2,..; the run's, or .5 to 3 sigma, by default."),
    ] = None
    method: Annotated[str, typer.Option("--method", help=f"{', '.join(attacks.METHODS)}; see above.")] = "pgd"
    steps: Annotated[
        int | None,
        typer.Option(
            "--steps", help="Gradient steps of pgd and ddn, 20 by default; the others' budgets are published."
        ),
    ] = None
    m: Annotated[int, typer.Option("--m", help="Noises whose mean softmax the attack follows.")] = 128
    n: Annotated[int, typer.Option("--n", help="Votes of PREDICT, which judges every attempt.")] = 1_000
    alpha: opt.Alpha = 0.001
    seed: opt.Seed = None
    workers: opt.Workers = None
    engine: Annotated[
        str | None, typer.Option("--engine", help="Of PREDICT; the run's, else auto, by default.")
    ] = None

    def settings(self, run: store.Run | None, sigma: float) -> dict[str, Any]:
        """Return them as the arguments of an attack."""
        radii = _radii(self.radii, run, sigma)
        return {**asdict(self), "radii": radii, "seed": opt.choose_seed(self.seed)}


@opt.unfolded
def attack(
    ctx: typer.Context,
    model: opt.ModelFolder,
    own: opt.OwnModel,
    out: Annotated[Path, opt.folder_option("--out", text="Folder to write to.")],
    source: opt.Source,
    subset: opt.Subset,
    attacking: Attacking,
    run: Annotated[
        Path | None,
        opt.path_option("--run", text="Run of this model, to hold its certificates against the attack."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue the attack in --out, or start it.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Unrounded figures as JSON.")] = False,
) -> None:
    """Attack a smoothed classifier: an upper bound on its robust accuracy beside the certified lower bound.

    An image is broken where PREDICT answers with another class than its label; abstaining breaks nothing. With --run,
    every certified image is also attacked just inside its radius, under the run's noise. The folder gets attack.json,
    the curve accuracy.png and, for all images of a run, the page report.html.

    Method autoattack is the published one: apgd-ce, apgd-t (targeted DLR), fab-t and square, one after the other where
    none before broke the mean softmax, 100 steps each (9 targets) and 5,000 queries. That is some 240 times the cost of
    pgd, told before it starts. It is refused where a part cannot run (under 4 classes, or inputs that are no images);
    each part is a method of its own.

    Example:

      smoothcert attack demo/models/ensemble --run demo/runs/ensemble --radii 0.25,0.5 --out attacks/ensemble

      smoothcert attack demo/models/ensemble --method autoattack --m 32 --first 20 --radii 0.5 --out attacks/auto
    """
    images = source.load(model, own.weights)
    certified = None if run is None else store.Run.open(run)
    picked = subset.pick(images)
    classifier = _classifier(model, NOISE.given(ctx), own.facts(model, images), certified)
    try:
        results = workflows.attack_images(
            classifier,
            images,
            indices=picked if subset.is_chosen or certified is None else None,
            run=certified,
            out=out,
            resume=resume,
            show_progress=True,
            on_plan=lambda text: report.say(text, error=True),
            **attacking.settings(certified, classifier.noise.std),
        )
    except KeyboardInterrupt:
        print("stopped; attacked images are kept, the same command with --resume continues", file=sys.stderr)
        raise typer.Exit(130) from None
    content = json.dumps(report.attack_to_json(results), indent=2)
    write_atomically(out / "attack.json", content + "\n")
    _draw(results, certified, out)
    whole = certified is not None and not subset.is_chosen
    if certified is not None and whole:
        _write_page(results, certified, str(run), model, out)
    if as_json:
        print(content)
    else:
        report.print_attack(results)
        report.say(f"Curve: {out / 'accuracy.png'}" + (f"  Page: {out / 'report.html'}" if whole else ""))


def _write_page(results: store.AttackResults, run: store.Run, name: str, model: Path, out: Path) -> None:
    """Write the page of a run all of whose images were attacked."""
    title = f"{name} under attack"
    places = {} if folders.is_own(model) else {name: model}
    report.write_report({name: run}, out / "report.html", title=title, attack=results, models=places)


def _classifier(
    model: Path, given: dict[str, Any], facts: dict[str, Any], run: store.Run | None
) -> certificates.SmoothedClassifier:
    """Load a model, under the noise of the run unless the options say another."""
    if run is None or given:
        return choose_classifier(model, given, facts)
    return certificates.load_classifier(model, noise=noise.noise_from(dict(run.manifest["noise"])), **facts)


def _draw(results: store.AttackResults, run: store.Run | None, out: Path) -> None:
    """Draw the attack's curve, above that of the same images' certificates if there are any."""
    if run is None:
        report.save_figure(report.attack_figure(results), out / "accuracy.png")
        return
    whole = report.Summary.of_run(run)
    attacked = np.isin(whole.results.index, [image.index for image in results.images])
    summary = replace(whole, results=whole.results.only(attacked))
    report.save_figure(report.certified_accuracy_figure([summary], attack=results), out / "accuracy.png")


def _radii(text: str | None, run: store.Run | None, sigma: float) -> tuple[float, ...]:
    """Read radii; by default those that the run asked about, else steps that suit it, else multiples of sigma."""
    if text is None:
        if run is None:
            return tuple(share * sigma for share in _SIGMAS)
        summary = report.Summary.of_run(run)
        return tuple(report.common_grid([summary]).tolist()) if summary.asked is None else summary.asked
    return opt.read_numbers("--radii", text)
