"""Members loaded from their folders, to be asked about the images of a data set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.agreement import check_agreement
from smoothcert.folders.ensemble_card import EnsembleCard
from smoothcert.folders.ensemble_folder import load_model
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.module_source import Modules, module_source
from smoothcert.networks import multi_head_of
from smoothcert.noise import NoiseLaw, noise_from


@dataclass(frozen=True)
class Members:
    """Classifiers of the same images, classes and noise.

    Args:
        models: in eval mode.
        noise: the law they were trained with.
        cards: of their folders.
        of_heads: they are the heads of one network.
    """

    models: tuple[nn.Module, ...]
    noise: NoiseLaw
    cards: tuple[ModelCard | EnsembleCard, ...]
    of_heads: bool


def gather_members(folders: Sequence[Path], dataset: Dataset, module: Modules = None) -> Members:
    """Load members, of a single multi-head network its heads; refuse what does not fit together or to the images.

    Args:
        folders: of models or of ensembles.
        dataset: images that they will be asked about.
        module: for members that are code of the user's own, as for `load_model`.
    """
    modules = module_source(module)
    if not folders:
        raise InvalidArgumentError("folders must name at least one folder, got none")
    loaded = [load_model(folder, module=modules) for folder in folders]
    cards = tuple(card for _, card in loaded)
    check_agreement(folders, cards)
    shape, classes = tuple(cards[0].input_shape), cards[0].num_classes
    if (dataset.input_shape, dataset.num_classes) != (shape, classes):
        raise InvalidArgumentError(
            f"the members tell {classes} classes of images {shape} apart, but {dataset.name} has "
            f"{dataset.num_classes} of {dataset.input_shape}; choose the data set they were trained on"
        )
    models = [model for model, _ in loaded]
    network = multi_head_of(*models)
    members = models if network is None else [network.head(number) for number in range(len(network.heads))]
    return Members(tuple(members), noise_from(dict(cards[0].noise)), cards, network is not None)
