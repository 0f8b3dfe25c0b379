"""Pretrained members of an ensemble trained together, written as model folders and the ensemble of them."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from smoothcert.arguments import check_path, check_switch
from smoothcert.data import Dataset
from smoothcert.ensembles import members_of
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import (
    ENSEMBLE_FILE,
    EnsembleCard,
    ModelCard,
    check_agreement,
    load_model,
    read_any_card,
    read_card,
    save_checkpoint,
    save_ensemble,
)
from smoothcert.training.config import TrainConfig
from smoothcert.training.epochs import OnEpoch
from smoothcert.training.first_model import with_digests
from smoothcert.training.launching import Trained, Where, launch
from smoothcert.training.materials import Materials
from smoothcert.training.outputs.folder import differences, forget, refuse_existing
from smoothcert.training.setting_rules import methods_that
from smoothcert.training.train import BEST, config_from, metrics_of

ENSEMBLE = "ensemble"
"""Subfolder with the soft vote of the fine-tuned members, which lie beside it as member-0, member-1, .."""


def fine_tune(
    config: TrainConfig | Mapping[str, Any] | str | Path,
    members: str | Path | Sequence[str | Path],
    out: str | Path,
    *,
    resume: bool = False,
    on_epoch: OnEpoch | None = None,
    devices: int = 1,
    accelerator: str = "auto",
    show_progress: bool | None = None,
) -> EnsembleCard:
    """Train pretrained members together (DRT) and write them and their soft vote; returns the ensemble's card.

    Not a change of the given folders: the members' new weights go to `out`/member-0, .. and `out`/ensemble names
    them; `out`/best holds the same of the epoch that did best on the hold-out. It is repeatable, as `train` is.

    Args:
        config: as for `train`; its method is one that trains members.
        members: an ensemble folder, or the folders of at least two networks, of any architectures, trained on the same
            images, classes and noise.
        out: folder to write to.
        resume: continue, or take as it is, the training in `out`, as for `train`.
        on_epoch: called with the metrics after every epoch, of the members' soft vote.
        devices: processes, each on a device of its own.
        accelerator: "auto", "cpu" or "cuda".
        show_progress: None shows it on a terminal only.
    """
    config, out = config_from(config).with_packages(), check_path("out", out)
    if config.objective().trains != "members":
        raise InvalidArgumentError(
            f"method {config.method!r} trains one network; to fine-tune members together choose one of "
            + methods_that(lambda one: one.trains == "members")
        )
    if not check_switch("resume", resume):
        refuse_existing(out, out / ENSEMBLE / ENSEMBLE_FILE)
    folders = member_folders(members)
    train_set = config.training_images()
    config = _with_members(config, folders, train_set)
    results = [home / f"member-{number}" for home in (out, out / BEST) for number in range(len(folders))]
    if (out / ENSEMBLE / ENSEMBLE_FILE).exists():
        return _finished(out, config, results[: len(folders)], train_set)
    where = Where(on_epoch, devices, accelerator, show_progress)
    return launch(config, Materials.named(config, train_set), out, where, _write, results)


def member_folders(given: str | Path | Sequence[str | Path]) -> list[Path]:
    """Return the folders of the networks to fine-tune: those given, or the members of one ensemble folder."""
    folders = [Path(given)] if isinstance(given, str | Path) else [Path(folder) for folder in given]
    if len(folders) == 1 and (folders[0] / ENSEMBLE_FILE).exists():
        card = read_any_card(folders[0])
        assert isinstance(card, EnsembleCard)
        home, folders = folders[0], [folders[0] / entry.path for entry in card.members]
        for folder, entry in zip(folders, card.members, strict=True):
            if read_any_card(folder).digest != entry.digest:
                raise CheckpointError(
                    f"member {entry.path} of the ensemble {home} has changed since it was made; restore it or make "
                    "the ensemble again"
                )
    return folders


def _with_members(config: TrainConfig, folders: Sequence[Path], train_set: Dataset) -> TrainConfig:
    """Return the configuration with its members, their digests and the first one's network; refuse unlike ones."""
    cards = [_plain_card(folder) for folder in folders]
    # The network is on record only: the members' own cards build them.
    config = config.changed(
        members=tuple(str(folder) for folder in folders),
        model=cards[0].architecture if cards else config.model,
    )
    check_agreement([str(folder) for folder in folders], cards)
    law = config.noise_law().describe()
    wanted = {"input_shape": train_set.input_shape, "class_names": train_set.class_names, "noise": law}
    for name, value in wanted.items():
        if getattr(cards[0], name) != value:
            raise InvalidArgumentError(
                f"the members have {name} {getattr(cards[0], name)}, but this training has {value}; choose members "
                "trained on the same data and noise (sigma says which)"
            )
    return with_digests(config, cards)


def _plain_card(folder: Path) -> ModelCard:
    if (folder / ENSEMBLE_FILE).exists():
        raise InvalidArgumentError(f"{folder} is an ensemble; members to fine-tune must be networks")
    card = read_card(folder)
    if card.denoised is not None:
        raise InvalidArgumentError(f"{folder} is a denoiser before a classifier; members must be networks")
    if card.code is not None:
        raise InvalidArgumentError(
            f"{folder} holds a network of the user's own code; members to fine-tune must be networks of this package"
        )
    return card


def _write(trained: Trained, out: Path | None) -> EnsembleCard:
    """Write the members and the ensemble of the best epoch, where a hold-out chose one, then those of the last."""
    assert out is not None
    if not trained.state.best:
        return _write_members(trained, trained.model, trained.config.epochs, out)
    best = copy.deepcopy(trained.model)
    best.load_state_dict(trained.state.best)
    _write_members(trained, best, trained.state.best_epoch, out / BEST)
    return _write_members(trained, trained.model, trained.config.epochs, out)


def _write_members(trained: Trained, model: nn.Module, epoch: int, home: Path) -> EnsembleCard:
    config, folders = trained.config, []
    for number, (member, folder) in enumerate(zip(members_of(model), config.members or (), strict=True)):
        folders.append(home / f"member-{number}")
        # What stands there is of this same training, killed between here and the end.
        shutil.rmtree(folders[-1], ignore_errors=True)
        update = {
            "method": config.method,
            "dataset": {"name": trained.train_set.name, "digest": trained.train_set.digest},
            "training": config.model_dump(mode="json"),
            "metrics": metrics_of(trained, epoch),
        }
        save_checkpoint(member, read_card(folder).model_copy(update=update), folders[-1])
    (home / ENSEMBLE / ENSEMBLE_FILE).unlink(missing_ok=True)
    return save_ensemble(folders, home / ENSEMBLE)


def _finished(out: Path, config: TrainConfig, members: Sequence[Path], train_set: Dataset) -> EnsembleCard:
    """Return the card of a finished training if it is the one asked for; name the differences if not."""
    _, card = load_model(out / ENSEMBLE)
    assert isinstance(card, EnsembleCard)
    if [(out / ENSEMBLE / entry.path).resolve() for entry in card.members] != [
        one.resolve() for one in members
    ]:
        raise CheckpointError(
            f"{out / ENSEMBLE} already holds another ensemble; choose another folder or remove it"
        )
    cards = [read_card(member) for member in members]
    differing = sorted(
        {name for place, one in zip(members, cards, strict=True) for name in differences(place, one, config)}
    )
    if any(one.dataset["digest"] != train_set.digest for one in cards):
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{out} already holds members trained with another {', '.join(differing)}; "
            "choose another folder or remove it"
        )
    forget(out)
    return card
