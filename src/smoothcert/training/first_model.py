"""The model that a training begins with: a new network, a trained one, members, or a denoiser before a classifier."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from smoothcert.data import Dataset
from smoothcert.ensembles import VotingEnsemble
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import ModelCard, classifier_card, load_checkpoint, read_card
from smoothcert.networks import DENOISERS, Denoised, DnCNN, create_model, refuse_shapes
from smoothcert.training.config import TrainConfig


def first_model(config: TrainConfig, train_set: Dataset) -> nn.Module:
    """Build or load what is trained; new weights come from torch's global random state.

    Args:
        config: names the network, the members or the classifier, the latter two with their digests.
        train_set: gives the shape of the images and the number of classes.
    """
    trains = config.objective().trains
    if trains == "members":
        return _members(config)
    if trains == "denoiser":
        return _denoiser(config, train_set)
    if config.start is not None:
        return _started(config)
    mean, std = config.normalisation()
    return create_model(
        config.model,
        num_classes=train_set.num_classes,
        input_shape=train_set.input_shape,
        mean=mean,
        std=std,
        heads=config.heads,
        split=config.split,
    )


def with_classifier_digest(config: TrainConfig, train_set: Dataset) -> TrainConfig:
    """Return the configuration of a denoiser with its classifier's digest; refuse one that does not fit the data."""
    if config.classifier is None:
        raise InvalidArgumentError(
            f"method {config.method!r} trains a denoiser before a classifier; say which one: classifier=FOLDER "
            "(--classifier on the command line)"
        )
    card = classifier_card(config.classifier)
    for name in ("input_shape", "num_classes"):
        if getattr(card, name) != getattr(train_set, name):
            raise InvalidArgumentError(
                f"the classifier {config.classifier} has {name} {getattr(card, name)}, but data set "
                f"{config.dataset!r} has {getattr(train_set, name)}; choose a classifier trained on it"
            )
    return with_digests(config, [card])


def with_start_digest(config: TrainConfig, train_set: Dataset) -> TrainConfig:
    """Return the configuration with the digest of the network it starts from; refuse one that is not what it trains."""
    assert config.start is not None
    card = read_card(config.start)
    if card.code is not None or card.denoised is not None or card.quantized is not None:
        raise InvalidArgumentError(
            f"{config.start} is no float32 network of this package alone; start from one, or continue your own module "
            "by smoothcert.fit"
        )
    learnt, held = card.training.get("dataset"), card.training.get("holdout")
    if config.holdout != "none" and learnt == config.dataset and held != config.holdout:
        raise InvalidArgumentError(
            f"{config.start} was trained with holdout={held}, so it may have learnt images that holdout="
            f"{config.holdout} sets aside to measure on; train with the same hold-out, or with none"
        )
    mean, std = config.normalisation()
    wanted = {
        "architecture": config.model,
        "heads": config.heads,
        "split": config.split,
        "input_shape": train_set.input_shape,
        "num_classes": train_set.num_classes,
        "mean": mean,
        "std": std,
    }
    for name, value in wanted.items():
        if getattr(card, name) != value:
            raise InvalidArgumentError(
                f"{config.start} has {name} {getattr(card, name)}, but this training has {value}; start from a network "
                "that is built alike"
            )
    return with_digests(config, [card])


def with_digests(config: TrainConfig, cards: Sequence[ModelCard]) -> TrainConfig:
    """Return the configuration with the digests of the models it starts from; refuse other ones given before."""
    digests = tuple(card.digest for card in cards)
    if config.digests is not None and config.digests != digests:
        raise InvalidArgumentError(
            f"digests must be those of the models in their folders, {list(digests)}, got {list(config.digests)}; "
            "leave them out"
        )
    return config.changed(digests=digests)


def size_of(config: TrainConfig) -> tuple[int, int]:
    """Return depth and width of the denoiser of a configuration."""
    named = DENOISERS[config.model]
    return config.depth or named.depth, config.width or named.width


def _started(config: TrainConfig) -> nn.Module:
    assert config.start is not None
    model, card = load_checkpoint(config.start)
    _refuse_change(config, [card])
    return model.requires_grad_(True)


def _denoiser(config: TrainConfig, train_set: Dataset) -> Denoised:
    assert config.classifier is not None
    classifier, card = load_checkpoint(config.classifier)
    _refuse_change(config, [card])
    denoiser = DnCNN(train_set.input_shape[0], *size_of(config))
    refuse_shapes(denoiser, card.input_shape, train_set.input_shape)
    return Denoised(denoiser, classifier)


def _members(config: TrainConfig) -> VotingEnsemble:
    assert config.members is not None
    loaded = [load_checkpoint(folder) for folder in config.members]
    _refuse_change(config, [card for _, card in loaded])
    return VotingEnsemble([model.requires_grad_(True) for model, _ in loaded])


def _refuse_change(config: TrainConfig, cards: list[ModelCard]) -> None:
    """Refuse files that were replaced since their digests entered the configuration."""
    if config.digests != tuple(card.digest for card in cards):
        raise CheckpointError(
            f"a model that this training starts from has changed: digests {[card.digest for card in cards]}, "
            f"expected {list(config.digests or ())}; restore it or train into another folder"
        )
