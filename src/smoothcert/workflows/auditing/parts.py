"""What a run was made from: the classifier and the data set, found again and held against the manifest."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smoothcert.certificates import SmoothedClassifier, identities, is_settled
from smoothcert.data import DATASETS, Dataset, TorchData, is_torch_data, load_dataset
from smoothcert.errors import ModuleNeededError, SmoothcertError, StoreError
from smoothcert.folders import EnsembleCard, is_ensemble, load_model, read_any_card, refuse_labyrinth
from smoothcert.networks import as_model, classifiers_of
from smoothcert.noise import NoiseLaw
from smoothcert.store import PLACES, SHARD
from smoothcert.workflows.auditing.own_model import Origin, own_model
from smoothcert.workflows.auditing.report import AuditReport
from smoothcert.workflows.auditing.stored import StoredRun

Source = str | Path | SmoothedClassifier | Callable[..., Any]

_IN_PYTHON = "audit it there: smoothcert.audit(run, model=classifier)"


def read_origin(stored: StoredRun, report: AuditReport) -> Origin:
    """Return where the run says its model and data were; what is no place is a finding."""
    for field, place in stored.origin:
        if field not in (*PLACES, SHARD) or not isinstance(place, str) or "\0" in place:
            report.add_finding("file", f"the run says that its {field!r} was at {place!r}, which is no place")
            return {}
    return dict(stored.origin)


def find_classifier(
    manifest: Mapping[str, Any],
    noise: NoiseLaw,
    run: Path,
    origin: Origin,
    given: Source | None,
    report: AuditReport,
    factories: Sequence[str] = (),
) -> SmoothedClassifier | None:
    """Return the run's classifier, or None with a note or a finding that says why there is none.

    Args:
        manifest: of the run.
        noise: that it describes.
        run: the run folder, from which the noted place of the model is seen.
        origin: the places that the run noted.
        given: a model folder, file or factory, a classifier, or None for the place that the run noted.
        report: told what is wrong.
        factories: that may run, where the run or its model folder names them.
    """
    model = _model(manifest, run, origin, given, report, factories)
    if model is None:
        return None
    same = [part for part in classifiers_of(model) if identities(part) == (manifest["model"],)]
    if not same:
        report.add_finding(
            "model",
            f"the model {_title(given)}is not the one that was certified (other digest; one that keeps something when "
            "it is called is another afterwards: load it anew)",
        )
        return None
    if not is_settled(manifest["model"]):
        report.note(
            "the model is code that no digest covers: that it is the one that was certified is for you to know"
        )
    classifier = SmoothedClassifier(
        same[0], noise, manifest["num_classes"], on_nan=manifest["on_nan"], allow_any_range=True
    )
    classifier.source = manifest.get("source")  # by which it was found; the identity is what counts
    return classifier


def _model(
    manifest: Mapping[str, Any],
    run: Path,
    origin: Origin,
    given: Source | None,
    report: AuditReport,
    factories: Sequence[str],
) -> Any:
    if isinstance(given, SmoothedClassifier):
        return given.model
    if given is not None and not isinstance(given, str | Path):
        return as_model(given, manifest["num_classes"], also="a folder, a classifier, ")
    source = manifest.get("source")
    try:
        if source is not None:
            return own_model(source, manifest, run, origin, given, report, factories)
        return _of_folder(run, origin, given, report, factories)
    except StoreError:
        raise
    except ModuleNeededError as error:
        report.note(f"its model is code that an audit does not run ({error}); {_IN_PYTHON}")
        return None
    except SmoothcertError as error:
        report.add_finding("model", f"the model cannot be loaded: {error}")
        return None


def _of_folder(
    run: Path, origin: Origin, given: str | Path | None, report: AuditReport, factories: Sequence[str]
) -> Any:
    if given is None and "model" not in origin:
        report.note("the run does not say where its model is; give it with --model FOLDER")
        return None
    folder = Path(given) if given is not None else run / origin["model"]
    if not folder.is_dir():
        if given is not None:
            raise StoreError(
                f"there is no model folder {folder}; give the folder of the model that was certified"
            )
        report.note(f"its model is no longer at {_plain(folder)}; give its folder with --model")
        return None
    if (given_in_python := _without_factory(folder)) is not None:
        report.note(f"its model is a {given_in_python} that was given in Python; {_IN_PYTHON}")
        return None
    if not factories and (factory := _named_factory(folder)) is not None:
        report.note(f"its model is built by {factory}, which runs if you say so: --factory {factory}")
        return None
    return load_model(folder, factories=factories)[0]


def _without_factory(folder: Path) -> str | None:
    """Return the class of a network whose card names no factory; its identity is that of the module it was given as."""
    code = getattr(read_any_card(folder), "code", None)
    return code.module if code is not None and code.factory is None else None


def find_dataset(
    manifest: Mapping[str, Any],
    run: Path,
    origin: Origin,
    given: Dataset | TorchData | str | None,
    data_dir: Path | None,
    report: AuditReport,
) -> Dataset | None:
    """Return the run's data set, or None with a note or a finding that says why there is none.

    Args:
        manifest: of the run.
        run: the run folder.
        origin: the places that the run noted.
        given: a data set or a name; None for the name in the manifest.
        data_dir: folder of its files; None for the place that the run noted.
        report: told what is wrong.
    """
    wanted = manifest["dataset"]
    if is_torch_data(given):
        given = Dataset.from_torch(given, name=wanted["name"], split=wanted["split"])
    if isinstance(given, Dataset):
        images = given
    else:
        name = wanted["name"] if given is None else str(given)
        if data_dir is None and "data_dir" in origin and (given is None or given in DATASETS):
            data_dir = run / origin["data_dir"]
            report.note(
                f"its images were read from {_plain(data_dir)}, as the run says; that they are what their name says "
                "is for you to know"
            )
        if given is None and name not in DATASETS and data_dir is not None:
            name, data_dir = str(data_dir), None  # a file of the user's own, named after itself
        elif given is None and name not in DATASETS:  # a path in the manifest is not followed
            report.note(f"its images are {name!r}, arrays of the user's own; give them with --dataset FILE")
            return None
        try:
            images = load_dataset(
                name, split=wanted["split"], data_dir=data_dir, holdout=wanted.get("holdout")
            )
        except SmoothcertError as error:
            if given is not None:
                raise
            report.note(f"its data set cannot be read ({error}); give it with --dataset and --data-dir")
            return None
        if given is not None and given not in DATASETS:  # a file that was given another name
            images = replace(images, name=wanted["name"])
    if images.digest != wanted["digest"]:
        report.add_finding(
            "data", f"the images or labels of {images.name} are not those of the run (other digest)"
        )
        return None
    return images


def _named_factory(folder: Path) -> str | None:
    """Return a factory that a folder's card, or one of its members', names; None if there is none."""
    if is_ensemble(folder):
        refuse_labyrinth(folder)
    card = read_any_card(folder)
    if isinstance(card, EnsembleCard):
        named = (_named_factory(folder / member.path) for member in card.members)
        return next((factory for factory in named if factory is not None), None)
    return None if card.code is None else card.code.factory


def _title(given: Source | None) -> str:
    return f"in {given} " if isinstance(given, str | Path) else ""


def _plain(folder: Path) -> Path:
    """Return a path without detours."""
    return folder.resolve()
