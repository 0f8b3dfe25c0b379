"""The user's own module, asked once before it is trained: does it give one row of logits per image?"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.folders import checked_state
from smoothcert.networks import Composite
from smoothcert.visible import brief

_ROWS = 16  # images of the question
_SURE = 1e-4  # how near to 1 rows of probabilities add up


def refuse_unfit(module: nn.Module) -> None:
    """Refuse what has nothing to learn, cannot be kept in a file, or is trained by another function.

    Args:
        module: as it was handed in.
    """
    if isinstance(module, Composite):
        raise InvalidArgumentError(
            f"module is a {type(module).__name__}, which is made of classifiers of its own; train members one by one "
            "and join them by save_ensemble, heads by smoothcert.train with heads=5, a denoiser with classifier=FOLDER"
        )
    checked_state(module)
    if not any(weights.requires_grad for weights in module.parameters()):
        raise InvalidArgumentError(
            f"module {type(module).__name__} has no weights that learn; give one with parameters, not all of them "
            "frozen (requires_grad)"
        )


def refuse_answers(model: nn.Module, train_set: Dataset) -> None:
    """Refuse a module that does not answer a batch of images by logits, saying what it returned.

    Args:
        model: a copy, the first layer before it; it is left in eval mode.
        train_set: images to ask about.
    """
    rows = min(_ROWS, len(train_set))
    batch, name = train_set.batch(range(rows)), type(model).__name__
    try:
        with torch.no_grad():
            answer: Any = model.eval()(batch)
    except Exception as error:  # whatever the user's own code raises
        raise InvalidArgumentError(
            f"module {name} cannot be asked about images of shape {tuple(batch.shape)}: {type(error).__name__}: "
            f"{brief(str(error), 200)}; give images of the shape that it takes, or change it"
        ) from error
    if not isinstance(answer, torch.Tensor):
        raise ModelOutputError(
            f"module {name} returned a {type(answer).__name__} for a batch of images; it must return a tensor of "
            "logits, (rows, classes), so wrap it in a module that picks them"
        )
    wanted = (rows, train_set.num_classes)
    if tuple(answer.shape) != wanted or not answer.is_floating_point():
        raise ModelOutputError(
            f"module {name} returned {tuple(answer.shape)} of {str(answer.dtype).removeprefix('torch.')} for {rows} "
            f"images of {train_set.num_classes} classes; it must return logits {wanted} (class_names names classes "
            "without an image)"
        )
    if not bool(torch.isfinite(answer).all()):
        raise ModelOutputError(
            f"module {name} returned NaN or infinite logits before any training; give finite weights"
        )
    if bool((answer >= 0).all()) and bool(((answer.sum(dim=1) - 1).abs() < _SURE).all()):
        raise ModelOutputError(
            f"module {name} returned probabilities, rows of which add up to 1; it must return logits, so leave out its "
            "softmax"
        )
