"""What a run was made from: the classifier and the data set, found again and held against the manifest."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from smoothcert.certificates import SmoothedClassifier
from smoothcert.certificates.identity import identities
from smoothcert.data import Dataset, load_dataset
from smoothcert.ensembles import Panel, load_model
from smoothcert.errors import CheckpointError, SmoothcertError, StoreError
from smoothcert.noise import NoiseLaw
from smoothcert.store.auditing.report import AuditReport
from smoothcert.store.auditing.stored import StoredRun

Source = str | Path | SmoothedClassifier | Callable[..., Any]


def find_classifier(
    stored: StoredRun, noise: NoiseLaw, run: Path, given: Source | None, report: AuditReport
) -> SmoothedClassifier | None:
    """Return the run's classifier, or None with a note or a finding that says why there is none.

    Args:
        stored: the run.
        noise: the manifest's noise.
        run: the run folder, from which the noted place of the model is seen.
        given: a model folder, a classifier, or None for the place that the run noted.
        report: told what is wrong.
    """
    model = _model(stored, run, given, report)
    if model is None:
        return None
    parts = model.classifiers if isinstance(model, Panel) else (model,)
    same = [part for part in parts if identities(part) == (stored.manifest["model"],)]
    if not same:
        report.found("model", f"the model {_title(given)}is not the one that was certified (other digest)")
        return None
    return SmoothedClassifier(
        same[0],
        noise,
        stored.manifest["num_classes"],
        on_nan=stored.manifest["on_nan"],
        allow_any_range=True,
    )


def _model(stored: StoredRun, run: Path, given: Source | None, report: AuditReport) -> Any:
    if isinstance(given, SmoothedClassifier):
        return given.model
    if given is not None and not isinstance(given, str | Path):
        return given
    if given is None and "model" not in stored.origin:
        report.notes.append("the run does not say where its model is; give it with --model FOLDER")
        return None
    folder = Path(given) if given is not None else run / stored.origin["model"]
    if not folder.is_dir():
        if given is not None:
            raise StoreError(
                f"there is no model folder {folder}; give the folder of the model that was certified"
            )
        report.notes.append(f"its model is no longer at {_plain(folder)}; give its folder with --model")
        return None
    try:
        return load_model(folder)[0]
    except CheckpointError as error:
        report.found("model", f"the model cannot be loaded: {error}")
        return None


def find_dataset(
    stored: StoredRun, run: Path, given: Dataset | str | None, data_dir: Path | None, report: AuditReport
) -> Dataset | None:
    """Return the run's data set, or None with a note or a finding that says why there is none.

    Args:
        stored: the run.
        run: the run folder.
        given: a data set or a name; None for the name in the manifest.
        data_dir: folder of its files; None for the place that the run noted.
        report: told what is wrong.
    """
    wanted = stored.manifest["dataset"]
    if isinstance(given, Dataset):
        found = given
    else:
        if data_dir is None and "data_dir" in stored.origin:
            data_dir = run / stored.origin["data_dir"]
            report.notes.append(
                f"its images were read from {_plain(data_dir)}, as the run says; that they are what their name says "
                "is for you to know"
            )
        try:
            found = load_dataset(given or wanted["name"], split=wanted["split"], data_dir=data_dir)
        except SmoothcertError as error:
            if given is not None:
                raise
            report.notes.append(
                f"its data set cannot be read ({error}); give it with --dataset and --data-dir"
            )
            return None
    if found.digest != wanted["digest"]:
        report.found("data", f"the images or labels of {found.name} are not those of the run (other digest)")
        return None
    return found


def _title(given: Source | None) -> str:
    return f"in {given} " if isinstance(given, str | Path) else ""


def _plain(folder: Path) -> Path:
    """Return a path without detours."""
    return folder.resolve()
