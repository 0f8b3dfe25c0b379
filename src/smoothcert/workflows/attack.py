"""How far a smoothed classifier can be trusted from above: attack it, and ask PREDICT whether it broke."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import (
    MOST_RADII,
    MOST_RADIUS,
    SmoothedClassifier,
    check_match,
    check_subjects,
    identities,
    named_radii,
)
from smoothcert.data import Dataset, check_indices
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw, noise_from
from smoothcert.progress import progress
from smoothcert.seeding import check_seed
from smoothcert.store import AttackRecord, AttackResults, Run
from smoothcert.visible import brief
from smoothcert.workflows.attack_plan import AttackPlan

MOST_STEPS = 100_000
"""Of an attack's gradient steps, and of the noises that each follows."""


def attack_images(
    classifier: SmoothedClassifier,
    dataset: Dataset,
    *,
    radii: float | Sequence[float],
    indices: Sequence[int] | None = None,
    method: str = "pgd",
    steps: int | None = None,
    m: int = 128,
    n: int = 1_000,
    alpha: float = 0.001,
    seed: int | None = None,
    run: Run | None = None,
    engine: str | None = None,
    workers: int | None = None,
    out: str | Path,
    resume: bool = False,
    show_progress: bool | None = None,
    on_plan: Callable[[str], None] | None = None,
) -> AttackResults:
    """Attack images within growing l2 radii; an image is broken where PREDICT answers with another class.

    Not a certificate of anything: an image that no attempt broke may still be broken by a better one. The attack's
    noise, PREDICT's and the certificates' votes are independent streams. An abstention breaks nothing.

    Args:
        classifier: what to attack, over a torch module and with l2 noise.
        dataset: images and labels.
        radii: l2 radii in pixel units, rounded down to six digits; the clean image is asked about in any case.
        indices: images of the data set; all of the run, or of the data set, by default.
        method: a name in `METHODS`.
        steps: gradient steps T; None for the method's own: 20, or the published budget, which nobody can change.
        m: noises whose mean softmax the attack follows.
        n: votes of PREDICT.
        alpha: error probability of PREDICT.
        seed: of all noise here; None draws a secret one, on resume the recorded one is used.
        run: certificates of the same classifier: every certified image is also attacked just inside its radius.
        engine: how PREDICT executes the classifier; the run's engine, else "auto", by default. With another engine
            than the run's it is another classifier, and refused.
        workers: threads of PREDICT; one per core by default.
        out: folder to write to, line by line.
        resume: continue the attack in `out`, or start it.
        show_progress: None shows it on a terminal only.
        on_plan: told what will be run and what it costs at most, before the first step.
    """
    check_subjects(classifier, dataset)
    if run is not None:
        check_kind("run", run, Run, "a Run: Run.open(folder), or what certify returned")
    if engine is not None:
        check_kind("engine", engine, str, "the name of an engine, or auto")
    record = AttackRecord(check_path("out", out))
    with record.hold():
        stored = record.settings(resume=resume)
        if stored is not None and seed is None:
            seed = int(stored["seed"])
        seed = check_seed(seed)
        chosen = run.column("idx") if run is not None and indices is None else indices
        images = check_indices(dataset, chosen)
        _check(classifier, radii, steps, m, run)
        distances = tuple(sorted({float(radius) for radius in named_radii(radii)} - {0.0}))
        plan = AttackPlan(
            classifier,
            dataset,
            images,
            distances,
            method=method,
            steps=steps,
            m=m,
            n=n,
            alpha=alpha,
            seed=seed,
            certified={} if run is None else _certified(run, classifier, dataset, images),
            how={"engine": _engine(engine, run), "workers": workers},
        )
        check_match(classifier, dataset, images)  # after what says that the run is about something else
        plan.check()
        proof = {"certified_alpha": "alpha", "certified_seed": "seed"}
        known = {name: None if run is None else run.manifest[field] for name, field in proof.items()}
        reach = None if run is None else run.reach
        known["certified_largest"] = None if reach is None else reach.largest
        known["certified_radii"] = (
            None if reach is None or reach.asked is None else named_radii(reach.asked).tolist()
        )
        record.begin({**plan.settings(), **known})
        if on_plan is not None:
            on_plan(plan.cost())
        done = {image.index for image in record.results().images}
        left = [index for index in plan.indices if index not in done]
        with progress("attacking", len(left), shown=show_progress) as show:
            broken = 0
            for number, image in enumerate(plan.attacked(left), start=1):
                record.add(image)
                broken += image.broken_at < float("inf")
                show(number, f"{broken} broken")
        return record.results()


def _engine(engine: str | None, run: Run | None) -> str:
    """Return the engine for PREDICT; refuse another one than that of the certificates."""
    if run is None:
        return "auto" if engine is None else engine
    made = str(run.manifest["engine"])
    if engine not in (None, "auto", made):
        raise InvalidArgumentError(
            f"engine must be {made!r}, by which the run was made, got {engine!r}; leave it out, or certify again"
        )
    return made


def _check(
    classifier: SmoothedClassifier, radii: float | Sequence[float], steps: int | None, m: int, run: Run | None
) -> None:
    """Refuse what cannot be attacked in l2."""
    noise = classifier.noise
    norms = {"the noise": noise.norm, "the run": noise.norm if run is None else run.manifest["norm"]}
    for what, norm in norms.items():
        if norm != "l2":
            raise InvalidArgumentError(
                f"the attack measures l2 distance, but {what} is about {norm}; attack a classifier with l2 noise"
            )
    given = radii.tolist() if isinstance(radii, np.ndarray) else radii
    given = [given] if isinstance(given, int | float) else given
    if (
        not isinstance(given, list | tuple | range)
        or len(given) > MOST_RADII
        or not all(map(_is_radius, given))
    ):
        raise InvalidArgumentError(
            f"radii must be finite numbers >= 0 in pixel units, at most {MOST_RADII} of them, got {brief(given)}"
        )
    for name, value in (("steps", 1 if steps is None else steps), ("m", m)):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MOST_STEPS:
            raise InvalidArgumentError(
                f"{name} must be a positive integer, at most {MOST_STEPS:,}, got {brief(value)}"
            )


def _is_radius(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MOST_RADIUS


def _named(noise: NoiseLaw) -> str:
    """Return the law and what it is chosen by; the dimension, which a run adds, follows from the images."""
    return ", ".join([noise.law_name, *(f"{name} {value}" for name, value in noise.option_values().items())])


def _certified(
    run: Run, classifier: SmoothedClassifier, dataset: Dataset, indices: Sequence[int]
) -> dict[int, tuple[int, float]]:
    """Return class and radius of the run's certified images; refuse a run about anything else."""
    for what, stored, found in (
        ("model", run.manifest["model"], identities(classifier.model)[0]),
        ("data set", run.manifest["dataset"]["digest"], dataset.digest),
        ("noise", _named(noise_from(run.manifest["noise"])), _named(classifier.noise)),
        ("way with answers that are no number", run.manifest["on_nan"], classifier.on_nan),
    ):
        if stored != found:
            raise InvalidArgumentError(
                f"the run is about another {what} ({stored}) than what is attacked ({found}); give the run of what is "
                "attacked, or attack what the run is about"
            )
    columns = zip(run.column("idx"), run.column("predicted"), run.column("radius"), strict=True)
    known = {idx: None if predicted is None else (predicted, radius) for idx, predicted, radius in columns}
    missing = [index for index in indices if index not in known]
    if missing:
        raise InvalidArgumentError(
            f"image {missing[0]} is not in the run; attack the run's images (leave the choice out) or finish the run"
        )
    return {index: pair for index in indices if (pair := known[index]) is not None}
