"""The card of a trained model: all that its folder says beside the weights."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, JsonValue
from torch import nn

from smoothcert.models.architecture import create_model


class ModelCard(BaseModel):
    """What a model is, how it was trained and on which noise; the content of `model.json`.

    Not proof of where a model came from: only the weights are tied to it, by their digest.

    Args:
        format: version of this layout.
        architecture: name in `MODELS`.
        num_classes: number of classes.
        input_shape: shape of one image.
        mean: per-channel mean of the first layer, in pixel units.
        std: per-channel standard deviation of the first layer, in pixel units.
        method: name of the training objective.
        noise: what `NoiseLaw.describe` returned.
        dataset: name and digest of the training split.
        training: the whole training configuration, with the seed that was used.
        metrics: figures measured at the end of training.
        class_names: one name per class.
        digest: `weights_digest` of the model; empty until `save_checkpoint` fills it in.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal[1] = 1
    architecture: str
    num_classes: int
    input_shape: tuple[int, ...]
    mean: tuple[float, ...]
    std: tuple[float, ...]
    method: str
    noise: dict[str, Any]
    dataset: dict[str, str]
    training: dict[str, JsonValue]
    metrics: dict[str, float]
    class_names: tuple[str, ...]
    digest: str = ""

    def build(self) -> nn.Module:
        """Build the network that the card describes, with random weights."""
        return create_model(
            self.architecture,
            num_classes=self.num_classes,
            input_shape=self.input_shape,
            mean=self.mean,
            std=self.std,
        )
