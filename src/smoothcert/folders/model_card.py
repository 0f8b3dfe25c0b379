"""The card of a trained model: all that its folder says beside the weights."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    model_serializer,
    model_validator,
)

from smoothcert import networks
from smoothcert.ensembles import HoldoutUse
from smoothcert.errors import CheckpointError
from smoothcert.fields import STRICT, Digest, Figures, Place, Settings, Text
from smoothcert.folders.card_fields import Classes, ClassNames, Noise, Shape, TrainedOn
from smoothcert.folders.code_entry import CodeEntry
from smoothcert.folders.quantized_entry import QuantizedEntry
from smoothcert.folders.records import drop_unset, first_fault
from smoothcert.networks import MOST_DEPTH, MOST_HEADS, MOST_WIDTH
from smoothcert.on_demand import nn
from smoothcert.reading import parse_json, read_bytes

MOST_CARD_BYTES = 8 * 2**20
"""Of a card's file; what JSON makes of more could fill the memory."""

Record = TypeVar("Record", bound=BaseModel)


class DenoisedEntry(BaseModel):
    """What a card says about a denoiser and the classifier behind it; the folder holds the denoiser's weights alone.

    Args:
        depth: convolutions of the denoiser.
        width: channels between them.
        digest: `weights_digest` of the denoiser.
        classifier: folder of the classifier, relative to the card's.
        classifier_digest: its digest when the two were put together.
    """

    model_config = STRICT

    depth: int = Field(le=MOST_DEPTH)  # how small they may be, the denoiser itself says
    width: int = Field(le=MOST_WIDTH)
    digest: Digest
    classifier: Place
    classifier_digest: Digest


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
        heads: number of heads of a `MultiHead`; None, and then not written, for a plain network.
        split: where its heads begin, for `resolve_split`; None for the default.
        denoised: a denoiser before a classifier; None for a network. Then `architecture` is a name in `DENOISERS`,
            and mean and std are the classifier's.
        code: the code behind a network of the user's own; None for one that this package builds. Then `architecture`
            is the name of its class, and mean and std are empty unless a layer before it normalises.
        onnx: SHA-256 of the file `model.onnx` that holds the network in place of weights; None where there are
            weights. Mean and std are as for `code`.
        quantized: how that file came to be below float32; None for a network in float32. Mean and std are in the file.
    """

    model_config = STRICT

    format: Literal[1] = 1
    architecture: Text
    num_classes: Classes
    input_shape: Shape
    mean: tuple[float, ...]
    std: tuple[float, ...]
    method: Text
    noise: Noise
    dataset: TrainedOn
    training: Settings
    metrics: Figures
    class_names: ClassNames
    digest: Digest | Literal[""] = ""
    heads: int | None = Field(default=None, ge=1, le=MOST_HEADS)
    split: Text | None = None
    denoised: DenoisedEntry | None = None
    code: CodeEntry | None = None
    onnx: Digest | None = None
    quantized: QuantizedEntry | None = None

    @model_validator(mode="after")
    def _only_one_kind(self) -> ModelCard:
        ours = (self.heads, self.split, self.denoised)
        if self.code is not None and any(one is not None for one in ours):
            raise ValueError(
                "a network of the user's own code has no heads, split or denoiser of this package"
            )
        if self.onnx is not None and any(one is not None for one in (*ours, self.code)):
            raise ValueError("a network of an ONNX file has no code, heads, split or denoiser beside it")
        if self.quantized is not None and (self.onnx is None or self.mean or self.std):
            raise ValueError("a quantised network is an ONNX file, which takes pixels")
        return self

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return drop_unset(handler(self))

    @property
    def fitted(self) -> tuple[HoldoutUse, ...]:
        """Labelled images that chose something about the network."""
        return () if self.quantized is None else (self.quantized.holdout,)

    def build(self) -> nn.Module:
        """Build the network that the card describes, with random weights; not for a denoiser and its classifier.

        Nor for a network of the user's own: a card runs no code.
        """
        if self.code is not None:
            raise CheckpointError(
                f"{self.code.module} is code of its own, which a card does not run; build the module in Python"
            )
        if self.onnx is not None:
            raise CheckpointError(
                f"{self.architecture} is the network of an ONNX file, which is run as it is and cannot be built anew, "
                "nor trained; train the network that it was exported from"
            )
        return networks.create_model(
            self.architecture,
            num_classes=self.num_classes,
            input_shape=self.input_shape,
            mean=self.mean,
            std=self.std,
            heads=self.heads,
            split=self.split,
        )


def read_record(kind: type[Record], path: Path) -> Record:
    """Read a JSON file as a record of one kind; `CheckpointError` says what is wrong with the file."""
    content = read_bytes(path, CheckpointError, most=MOST_CARD_BYTES)
    parse_json(content, f"{path} is damaged: the file", CheckpointError)  # neither deep nor NaN
    try:
        return kind.model_validate_json(content)
    except ValidationError as error:
        raise CheckpointError(f"{path} is damaged: {first_fault(error)}; restore the file") from error
