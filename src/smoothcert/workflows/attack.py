"""How far a smoothed classifier can be trusted from above: attack it, and ask PREDICT whether it broke."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import SmoothedClassifier, check_match, check_subjects
from smoothcert.data import Dataset, check_indices
from smoothcert.progress import progress
from smoothcert.radii import named_radii
from smoothcert.seeding import check_seed
from smoothcert.store import AttackMemory, AttackRecord, AttackResults, Run
from smoothcert.workflows.attack_checks import (
    about_certificates,
    certified_by,
    check_norms,
    check_numbers,
    engine_for,
)
from smoothcert.workflows.attack_plan import AttackPlan


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
    out: str | Path | None = None,
    resume: bool = False,
    show_progress: bool | None = None,
    on_plan: Callable[[str], None] | None = None,
) -> AttackResults:
    """Attack images within growing l2 radii; an image is broken where PREDICT answers with another class.

    Not a certificate of anything: an image that no attempt broke may still be broken by a better one. The attack's
    noise, PREDICT's and the certificates' votes are independent streams. An abstention breaks nothing.

    Args:
        classifier: what to attack, with l2 noise, over a torch module or a function whose answers carry gradients.
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
        engine: how PREDICT executes the classifier; the run's engine, else "auto", by default; on resume the
            recorded one is used. With another engine than the run's it is another classifier, and refused.
        workers: threads of PREDICT; one per core by default.
        out: folder to write to, line by line; None keeps the attack in memory.
        resume: continue the attack in `out`, or start it if there is none.
        show_progress: None shows it on a terminal only.
        on_plan: told what will be run and what it costs at most, before the first step.
    """
    check_subjects(classifier, dataset)
    if run is not None:
        check_kind("run", run, Run, "a Run: Run.open(folder), or what certify returned")
    record = AttackMemory() if out is None else AttackRecord(check_path("out", out))
    with record.hold():
        stored = record.settings(resume=resume)
        if stored is not None and seed is None:
            seed = int(stored["seed"])
        seed = check_seed(seed)
        chosen = run.column("idx") if run is not None and indices is None else indices
        images = check_indices(dataset, chosen)
        check_norms(classifier.noise, run)
        check_numbers(radii, steps, m)
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
            certified={} if run is None else certified_by(run, classifier, dataset, images),
            how={"engine": engine_for(engine, run, stored), "workers": workers},
        )
        check_match(classifier, dataset, images)  # after what says that the run is about something else
        plan.check()
        record.begin({**plan.settings(), **about_certificates(run)})
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
