"""A run in pieces: planned once, drawn share by share on any machines, merged by `merge_runs`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_kind, check_path
from smoothcert.certificates import (
    PROCEDURES,
    Certification,
    Procedure,
    SmoothedClassifier,
    check_subjects,
    load_classifier,
)
from smoothcert.data import DATASETS, Dataset, TorchData, load_dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution import Execution, Limit, LocalExecution, chosen_execution
from smoothcert.noise import noise_from
from smoothcert.store import (
    SHARD,
    Run,
    RunPlan,
    Share,
    check_same,
    make_manifest,
    opened,
    read_plan,
    refuse_plan,
    seen_from,
    write_plan,
)
from smoothcert.workflows.order import Order, Place
from smoothcert.workflows.settled import Settled, Wanted, telling_other_model

_DOING = "draw a shard of"


def plan_run(
    classifier: SmoothedClassifier,
    dataset: Dataset | TorchData,
    path: str | Path,
    *,
    procedure: Procedure | None = None,
    alpha: float = 0.001,
    seed: int | None = None,
    indices: Sequence[int] | None = None,
    engine: str = "auto",
    extends: str | Path | None = None,
) -> RunPlan:
    """Write the plan of a run that several machines draw: its manifest with its secret seed and resolved engine.

    Every image and the model are checked, and no vote is drawn. The file is readable by its owner alone, because who
    knows the seed can choose an input after the noise; keep it so until the run is published.

    Args:
        path: file to write, which must not be there.

    The other arguments are those of `certify`.
    """
    dataset = check_subjects(classifier, dataset)
    check_kind("engine", engine, str, "the name of an engine, or auto")
    place = check_path("path", path)
    refuse_plan(place)
    wanted = Wanted(procedure, alpha, seed, indices, engine, extends)
    run = Settled.of(classifier, dataset, wanted, None, None)
    run.order.checked(run.certification, LocalExecution(1), None)
    places = {"model": classifier.folder, "weights": classifier.weights, "data_dir": dataset.data_dir}
    return write_plan(place, run.manifest, places)


def certify_shard(
    classifier: SmoothedClassifier,
    dataset: Dataset | TorchData,
    plan: str | Path | RunPlan,
    *,
    shard: str = "1/1",
    workers: int | None = None,
    batch_size: int | None = None,
    out: str | Path,
    resume: bool = False,
    show_progress: bool | None = None,
    max_votes: int | None = None,
    max_minutes: float | None = None,
    execution: Execution | None = None,
) -> Run:
    """Certify one share of a planned run and return what its folder holds.

    Refused, field by field, where anything that decides a vote is not as planned: model, data, engine, versions.

    Args:
        classifier: the planned one.
        dataset: the planned one.
        plan: file of the plan, or what `plan_run` returned.
        shard: "I/N": every N-th image of the plan from the I-th on.
        out: run folder of this share, for `merge_runs`.

    The other arguments are those of `certify`.
    """
    where = chosen_execution(execution, workers)
    dataset = check_subjects(classifier, dataset)
    planned = plan if isinstance(plan, RunPlan) else read_plan(check_path("plan", plan))
    share, folder, limit = Share.read(shard), check_path("out", out), Limit(max_votes, max_minutes)
    manifest = planned.manifest
    mine = share.images(manifest["indices"])
    if not mine:
        raise InvalidArgumentError(
            f"shard {share} has no image, because the plan has {len(manifest['indices'])}; use fewer shards"
        )
    with opened(folder, resume, share) as stored:
        if stored is not None:
            check_same(stored, manifest, str(folder))
        # Probed by the first image of all: a share whose own first image fails is a share as any other.
        order = Order.of(classifier, dataset, mine, first=manifest["indices"][0])
        certification = _certification(classifier, planned, order)
        here = make_manifest(certification, dataset, manifest["indices"])
        check_same(manifest, here, str(planned.path), doing=_DOING)
        noted = {**seen_from(folder, {"plan": planned.path}), SHARD: str(share)}
        how: dict[str, Any] = {"batch_size": batch_size, "shown": show_progress, "limit": limit}
        return order.into(Place(folder, stored, manifest, noted), certification, where, **how)


def load_planned(
    plan: RunPlan,
    model: Path | None,
    facts: Mapping[str, Any],
    dataset: str | None = None,
    data_dir: Path | None = None,
) -> tuple[SmoothedClassifier, Dataset]:
    """Load the classifier and the data set that a plan is about; whether they are these is checked by their digests.

    Args:
        plan: says where they were, and how the model was made.
        model: its folder, file or factory; None for where it was. Code of a factory runs only if it is named here.
        facts: what is said about a model that is no folder, as arguments of `load_classifier`.
        dataset: name or path; None for the planned one.
        data_dir: folder of its files; None for where they were.
    """
    manifest, told = plan.manifest, dict(facts)
    source, place = manifest.get("source"), plan.places.get("model") if model is None else model
    if model is None and source is not None and source["kind"] == "factory":
        raise InvalidArgumentError(
            f"the plan's model is built by {source['name']}, whose code runs if you name it: give it as MODEL"
        )
    if place is None:
        raise InvalidArgumentError("the plan does not say where its model is; give it as MODEL")
    if source is not None:
        known = {"input_shape": tuple(manifest["input_shape"]), "weights": plan.places.get("weights")}
        known |= {key: source[key] for key in ("arguments", "mean", "std") if source.get(key) is not None}
        told = {**{key: value for key, value in known.items() if value is not None}, **told}
    classifier = load_classifier(place, noise=noise_from(dict(manifest["noise"])), **told)
    return classifier, _images(plan, dataset, data_dir)


def _images(plan: RunPlan, dataset: str | None, data_dir: Path | None) -> Dataset:
    wanted = plan.manifest["dataset"]
    name = wanted["name"] if dataset is None else dataset
    if data_dir is None and name in DATASETS:
        data_dir = plan.places.get("data_dir")
    if dataset is None and name not in DATASETS:  # a file of the user's own, named after itself
        if "data_dir" not in plan.places and data_dir is None:
            raise InvalidArgumentError(
                f"the plan's images are {name!r}, arrays of your own; give them with --dataset"
            )
        name, data_dir = str(plan.places.get("data_dir", data_dir)), None
    images = load_dataset(name, split=wanted["split"], data_dir=data_dir, holdout=wanted.get("holdout"))
    return images if images.name == wanted["name"] else replace(images, name=wanted["name"])


def _certification(classifier: SmoothedClassifier, plan: RunPlan, order: Order) -> Certification:
    """Bind a classifier to what a plan says."""
    manifest = plan.manifest
    wanted = Wanted(_procedure(manifest["procedure"]), manifest["alpha"], None, None, "auto")
    terms = wanted.terms(order, manifest) | {"images": len(manifest["indices"])}
    with telling_other_model(classifier, [(str(plan.path), manifest)], _DOING):
        return classifier.certification(**terms)


def _procedure(about: dict[str, Any]) -> Procedure:
    settings = {key: value for key, value in about.items() if key != "name"}
    made: Procedure = PROCEDURES[about["name"]](**settings)
    return made
