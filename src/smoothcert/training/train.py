"""Training from a configuration to a model folder."""

from __future__ import annotations

import copy
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from smoothcert.arguments import check_kind, check_path, check_switch
from smoothcert.data import Dataset
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import (
    CARD_FILE,
    CodeEntry,
    ModelCard,
    ModuleSource,
    denoised_entry,
    load_checkpoint,
    read_card,
    save_checkpoint,
)
from smoothcert.networks import denoised_of
from smoothcert.training.batches import chosen_images
from smoothcert.training.config import TrainConfig
from smoothcert.training.epochs import OnEpoch
from smoothcert.training.first_model import first_model, with_classifier_digest, with_start_digest
from smoothcert.training.launching import Trained, Where, launch
from smoothcert.training.materials import Materials
from smoothcert.training.outputs.folder import differences, forget, refuse_existing
from smoothcert.training.own.factory import permitted_module

BEST = "best"
"""Subfolder with the model of the epoch that did best on the hold-out, if there is one; the folder holds the last."""


def train(
    config: TrainConfig | Mapping[str, Any] | str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    on_epoch: OnEpoch | None = None,
    devices: int = 1,
    accelerator: str = "auto",
    show_progress: bool | None = None,
    factories: Sequence[str] = (),
) -> ModelCard:
    """Train a model and write its folder; the same seed gives the same weights, bit for bit, on one CPU process.

    Not a way to several members: members of an ensemble are trained together by `fine_tune`. Trainings in threads of
    one process take turns. `out`, `resume` and `show_progress` mean what they mean for `certify` and `attack_images`;
    only that `out` must be given, because the weights are in the folder and not in what is returned.

    Args:
        config: a configuration, its settings as a mapping, the name of a recipe or the path of one (its first row;
            `load_recipe(name).config(sigma=.., epochs=..)` gives others).
        out: folder to write the model to; while training it holds `training.safetensors`.
        resume: continue the training in `out` where its last epoch ended, or start it if there is none; one that is
            done is returned as it is. Without it a folder that holds a training, done or not, is refused.
        on_epoch: called with the metrics after every epoch; with several devices in a process of its own, so what it
            changes is not seen here.
        devices: processes, each on a device of its own (on the CPU: on a core).
        accelerator: "auto" (a GPU where there is one), "cpu" or "cuda".
        show_progress: None shows it on a terminal only.
        factories: "path/file.py:make" or "package.module:make", of code that the configuration names as its model and
            that may run; without it nothing runs.
    """
    config = config_from(config).with_packages()
    if config.own is not None:
        raise InvalidArgumentError(
            f"this configuration is of a module that was handed in ({config.own.module}); train it by smoothcert.fit"
        )
    out = check_out(out, resume)
    trains = config.objective().trains
    if trains == "members":
        raise InvalidArgumentError(
            f"method {config.method!r} trains the members of an ensemble together; use smoothcert.fine_tune "
            "(--from on the command line)"
        )
    train_set = config.training_images()
    if trains == "denoiser":
        config = with_classifier_digest(config, train_set)
    if config.start is not None:
        config = with_start_digest(config, train_set)
    config, module = permitted_module(config, train_set, factories)
    if (out / CARD_FILE).exists():
        return finished(out, config, train_set, None if module is None else module.source())[1]
    where = Where(on_epoch, devices, accelerator, show_progress)
    materials = Materials.named(config, train_set, first_model if module is None else module.first_model)
    return launch(config, materials, out, where, write_model, [out / BEST])


def check_out(out: Any, resume: Any) -> Path:
    """Return the folder to write to; refuse a file, and a training in it that is not to be continued.

    Args:
        out: as a user gave it.
        resume: likewise.
    """
    folder = check_path("out", out)
    if folder.exists() and not folder.is_dir():
        raise CheckpointError(f"{folder} is a file; choose a folder to write the model to")
    if not check_switch("resume", resume):
        refuse_existing(folder, folder / CARD_FILE)
    return folder


def config_from(given: TrainConfig | Mapping[str, Any] | str | Path) -> TrainConfig:
    """Return a configuration from itself, a mapping, or the name or path of a recipe."""
    if isinstance(given, TrainConfig):
        return given
    if isinstance(given, str | Path):
        from smoothcert.training.recipe import load_recipe

        return load_recipe(str(given)).config()
    check_kind(
        "config", given, Mapping, "a TrainConfig, a table of its fields, or the name or file of a recipe"
    )
    return TrainConfig(**given)


def write_model(trained: Trained, out: Path | None) -> ModelCard:
    """Write the model of the best epoch, where a hold-out chose one, then that of the last."""
    assert out is not None
    shutil.rmtree(out / BEST, ignore_errors=True)  # of this same training, killed between here and the end
    if not trained.state.best:
        return save_checkpoint(trained.model, _card(trained, trained.model, trained.config.epochs, out), out)
    best = copy.deepcopy(trained.model)
    best.load_state_dict(trained.state.best)
    save_checkpoint(best, _card(trained, best, trained.state.best_epoch, out / BEST), out / BEST)
    return save_checkpoint(trained.model, _card(trained, trained.model, trained.config.epochs, out), out)


def metrics_of(trained: Trained, epoch: int) -> dict[str, float]:
    """Return what a card says about the model as it was after some epoch."""
    then = trained.state.metrics[epoch - 1]
    metrics: dict[str, float] = {
        "epoch": epoch,
        "loss": then.loss,
        "train_images": len(chosen_images(len(trained.train_set), trained.config.max_train_images)),
        "seconds": then.seconds,
        "peak_memory_mb": then.peak_memory_mb,
        # each normalises batches by its own rows, so the weights depend on it
        "processes": trained.processes,
    }
    if then.holdout_noisy_accuracy is not None:
        metrics["holdout_noisy_accuracy"] = then.holdout_noisy_accuracy
    if then.holdout_acr is not None:
        metrics["holdout_acr"] = then.holdout_acr
    return metrics


def _card(trained: Trained, model: nn.Module, epoch: int, folder: Path) -> ModelCard:
    """Describe the model as it was after some epoch, to be written to `folder`."""
    config, train_set = trained.config, trained.train_set
    (mean, std), denoised, before = config.normalisation(), None, denoised_of(model)
    if before is not None:
        assert config.classifier is not None
        behind = read_card(config.classifier)
        mean, std = behind.mean, behind.std
        denoised = denoised_entry(before, config.classifier, folder)
    code = _code(config, model)
    return ModelCard(
        architecture=config.model if code is None else code.class_name,
        num_classes=train_set.num_classes,
        input_shape=train_set.input_shape,
        mean=mean,
        std=std,
        method=config.method,
        noise=config.noise_law().describe(),
        dataset={"name": train_set.name, "digest": train_set.digest},
        training=config.model_dump(mode="json"),
        metrics=metrics_of(trained, epoch),
        class_names=train_set.class_names,
        heads=config.heads,
        split=config.split,
        denoised=denoised,
        code=code,
    )


def _code(config: TrainConfig, model: nn.Module) -> CodeEntry | None:
    """Return what the card says about a network that is code of the user's own; None for one of this package."""
    if config.own is None and config.factory is None:
        return None
    module = model.get_submodule("network") if config.normalisation()[0] else model
    return CodeEntry.of(module, None if config.factory is None else config.model, config.model_args)


def finished(
    out: Path, config: TrainConfig, train_set: Dataset, modules: ModuleSource | None = None
) -> tuple[nn.Module, ModelCard]:
    """Return model and card of a finished training if it is the one asked for; name the differences if not.

    Args:
        out: its folder.
        config: the training asked for.
        train_set: its images.
        modules: who has the module, where it is code of the user's own.
    """
    card = read_card(out)
    differing = differences(out, card, config)
    if card.dataset["digest"] != train_set.digest:
        differing.append("dataset digest")
    if differing:
        raise CheckpointError(
            f"{out} already holds a model trained with another {', '.join(differing)}; "
            f"choose another folder or remove it"
        )
    loaded = load_checkpoint(out, modules)
    forget(out)
    return loaded
