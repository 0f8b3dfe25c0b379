"""What networks there are, with their size and price."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from smoothcert.networks.architecture import MODELS, Architecture, Figures


@dataclass(frozen=True)
class ModelDescription:
    """One line of the listing of networks.

    Not a measurement of time: operations say little across kinds of layers.

    Args:
        name: in `MODELS`.
        summary: one line on the layers.
        input_shape: shape of the images the figures are for, (channels, height, width).
        least_side: smallest height and width it takes, in pixels.
        num_classes: number of classes the figures are for.
        parameters: trainable parameters.
        multiply_adds: of one image's forward pass, matrix work only, as papers count (they call them FLOPs).
        stages: names of the stages, in order; the network can be cut before each; none if it cannot.
    """

    name: str
    summary: str
    input_shape: tuple[int, ...]
    least_side: int
    num_classes: int
    parameters: int
    multiply_adds: int
    stages: tuple[str, ...]


@cache
def describe_model(name: str, heads: int | None = None, split: str | None = None) -> ModelDescription:
    """Describe one network of `MODELS` at its own input shape and number of classes.

    By the figures that stand with the network; without them, or for heads that begin inside a stage, it is built
    where no weight is drawn and nothing is computed.

    Args:
        name: in `MODELS`.
        heads: count parameters and operations of so many heads on one trunk; a plain network when left out.
        split: where the heads begin, for `resolve_split`.
    """
    architecture = MODELS[name]
    figures = architecture.figures
    begin = None if heads is None or figures is None else _border(architecture, figures, split)
    if figures is None or (heads is not None and begin is None):
        from smoothcert.networks.measured import measured_figures

        stages, (parameters, multiply_adds) = measured_figures(name, heads, split)
    else:
        stages, in_head = tuple(figures), False
        parameters = multiply_adds = 0
        for stage, (weights, work) in figures.items():
            in_head = in_head or stage == begin
            copies = (heads or 1) if in_head else 1
            parameters, multiply_adds = parameters + copies * weights, multiply_adds + copies * work
    return ModelDescription(
        name=name,
        summary=architecture.summary,
        input_shape=architecture.input_shape,
        least_side=architecture.least_side,
        num_classes=architecture.num_classes,
        parameters=parameters,
        multiply_adds=multiply_adds,
        stages=stages,
    )


def is_border(name: str, split: str | None) -> bool:
    """Say whether heads of a network can begin there, as far as its figures tell; False where they do not.

    Args:
        name: in `MODELS`.
        split: where the heads begin, for `resolve_split`.
    """
    architecture = MODELS[name]
    return architecture.figures is not None and _border(architecture, architecture.figures, split) is not None


def _border(architecture: Architecture, figures: Figures, split: str | None) -> str | None:
    """Return the stage before which heads begin; None if a split means no such place, or none at all."""
    if split is not None:
        return split if split in figures else None
    return architecture.heads_begin or [stage for stage, (weights, _) in figures.items() if weights][-1]


def describe_models() -> tuple[ModelDescription, ...]:
    """Describe every network of `MODELS`, by name."""
    return tuple(describe_model(name) for name in MODELS)
