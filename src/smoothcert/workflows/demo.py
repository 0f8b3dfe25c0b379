"""The main job on embedded data, end to end: train, ensemble, certify, report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from smoothcert.certificates import Sequential, SmoothedClassifier
from smoothcert.data import load_dataset
from smoothcert.ensembles import panel_of
from smoothcert.folders import load_model, save_ensemble
from smoothcert.noise import noise_from
from smoothcert.report import Summary, certified_accuracy_figure, save_figure, votes_figure, write_report
from smoothcert.store import Run
from smoothcert.training import train
from smoothcert.workflows.certify_panel import certify_panel

MEMBERS = 3
IMAGES = 200
SIGMA = 0.25
MAX_SAMPLES = 10_000
RADII = tuple(round(0.05 * step, 2) for step in range(16))


def run_demo(
    out: Path, *, seed: int = 0, workers: int | None = None, say: Callable[[str], None]
) -> dict[str, Run]:
    """Train three small networks on the digits, certify them and their ensemble, write figures and a page.

    What is already in `out` is used again, so a demo that was stopped continues. Returns the runs by name,
    the members first.

    Args:
        out: folder to write to: models/, runs/, figures/ and report.html.
        seed: seed of the certification's noise; fixed, so that a demo can be compared with another.
        workers: threads; one per core by default.
        say: told in one line what is being done.
    """
    folders = [out / "models" / f"member-{i}" for i in range(MEMBERS)]
    for i, folder in enumerate(folders):
        say(f"training member {i} on noisy digits (sigma {SIGMA})")
        config = {"dataset": "digits", "model": "convnet", "sigma": SIGMA, "seed": i}
        train(config, out=folder, resume=True, show_progress=False)
    card = save_ensemble(folders, out / "models" / "ensemble")
    ensemble, _ = load_model(out / "models" / "ensemble")
    panel = panel_of(ensemble)
    assert panel is not None
    dataset = load_dataset("digits", split="test")
    say(f"certifying {IMAGES} test images at {len(RADII)} radii in one pass")
    models = dict(zip(panel.names, [*folders, out / "models" / "ensemble"], strict=True))
    runs = certify_panel(
        SmoothedClassifier(panel, noise_from(dict(card.noise)), card.num_classes),
        dataset,
        outs={name: out / "runs" / name for name in panel.names},
        procedure=Sequential(radii=RADII, max_samples=MAX_SAMPLES),
        seed=seed,
        indices=range(IMAGES),
        workers=workers,
        resume=True,
        show_progress=True,
        folders=models,
    )
    say("writing figures and page")
    summaries = [Summary.of_run(run) for run in runs.values()]
    save_figure(certified_accuracy_figure(summaries), out / "figures" / "certified_accuracy.png")
    save_figure(votes_figure(summaries), out / "figures" / "votes.png")
    title = "Three small networks and their ensemble on handwritten digits"
    write_report(runs, out / "report.html", title=title, dataset=dataset, models=models)
    return runs
