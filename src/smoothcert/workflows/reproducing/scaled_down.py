"""What differs from a paper's settings, in sentences that are derived and not written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from smoothcert.amounts import ordinal
from smoothcert.options import listed
from smoothcert.training import TrainConfig, hyper_parameters
from smoothcert.workflows.reproducing.plan import Plan, Training

# Where a training came from, not what it was.
_NOT_SETTINGS = {
    "seed",
    "data_dir",
    "recipe",
    "recipe_epochs",
    "packages",
    "digests",
    "model_code",
}
_WORDS = {
    "max_train_images": "training images",
    "model": "network",
    "lr": "learning rate",
    "milestones": "drops",
}
_NONE = {"max_train_images": "all", "holdout": "the usual", "heads": "1"}


def scaled_down(
    plan: Plan, used: Mapping[tuple[str, str], Mapping[str, Any]], images: int
) -> tuple[str, ...]:
    """Return the sentences; none where everything is as in the paper.

    Args:
        plan: what was planned.
        used: the settings that the networks were trained with, by part and name, as their folders tell.
        images: of the test split.
    """
    return (*_trainings(plan, used), *_certification(plan, images), *plan.left_out)


def _trainings(plan: Plan, used: Mapping[tuple[str, str], Mapping[str, Any]]) -> Iterator[str]:
    """Yield the differences of the trainings, those that several networks share in one sentence."""
    by_difference: dict[str, list[str]] = {}
    for training in plan.trainings:
        for difference in training_differences(training, used[training.part, training.name]):
            networks = by_difference.setdefault(difference, [])
            if training.network not in networks:
                networks.append(training.network)
    everybody = list(dict.fromkeys(training.network for training in plan.trainings))
    groups: dict[tuple[str, ...], list[str]] = {}
    for difference, networks in by_difference.items():
        groups.setdefault(tuple(networks), []).append(difference)
    for group, differences in groups.items():
        shared = len(group) == len(everybody) > 1
        yield f"{'all networks' if shared else listed(group)}: {', '.join(differences)}"


def training_differences(training: Training, used: Mapping[str, Any]) -> Iterator[str]:
    """Yield "epochs 6 instead of 90" and the like.

    Args:
        training: with the paper's settings.
        used: the settings it was trained with, from its card or configuration.
    """
    paper, own = _plain(training.published), _plain(TrainConfig(**used))
    for name in sorted({*paper, *own}):
        if paper.get(name) != own.get(name):
            yield f"{_WORDS.get(name, name)} {_shown(name, own)} instead of {_shown(name, paper)}"


def _plain(config: TrainConfig) -> dict[str, Any]:
    values = {
        name: value for name, value in config.model_dump(mode="json").items() if name not in _NOT_SETTINGS
    }
    del values["settings"]  # those of the method count with its defaults
    method = config.objective()
    return {**values, **{name: getattr(method, name) for name in hyper_parameters(config.method)}}


def _shown(name: str, values: Mapping[str, Any]) -> str:
    value = values.get(name)
    if value is None:
        return _NONE.get(name, "none")
    if name == "start":
        return Path(value).name
    if isinstance(value, list):
        return " and ".join(f"{one:g}" for one in value) or "none"
    if isinstance(value, bool | str):
        return str(value).lower()
    return f"{value:,}" if isinstance(value, int) else f"{value:g}"


def _certification(plan: Plan, images: int) -> Iterator[str]:
    """Yield what differs in the certification."""
    own, paper = plan.budget, plan.table.budgets["paper"]
    rounded = dict.fromkeys(row.name for row in plan.rows if row.name in own.int8)
    if rounded:
        yield f"{listed(rounded)}: certified in int8 instead of float32"
    count, full = len(own.images.indices(images)), len(paper.images.indices(images))
    if own.images != paper.images:
        step = f", every {ordinal(own.images.every)}" if own.images.every > 1 else ""
        yield f"{count:,} test images{step} from {own.images.start} on instead of {full:,}"
    if own.grid:
        yield (
            f"the printed radii alone, by a sequential test with at most {own.votes:,} votes instead of CERTIFY's "
            f"{paper.votes:,}"
        )
    elif own.votes != paper.votes and any(row.row.radius is None for row in plan.rows):
        yield f"{own.votes:,} votes instead of {paper.votes:,}"
