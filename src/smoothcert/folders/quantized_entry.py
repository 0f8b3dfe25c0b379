"""What a card says about a network below float32: from what, how and on which images it was made, and what it cost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from smoothcert.ensembles import HoldoutUse
from smoothcert.fields import STRICT, Digest, Figures, Place, Text

Names = Annotated[tuple[Text, ...], Field(max_length=1_000)]


class Candidate(BaseModel):
    """One way to quantise a network, and how it did on noisy hold-out images.

    Args:
        bias: "plain", or "corrected" for the mean error that rounding the weights brings to each channel.
        ranges: "all" if activations are scaled to all calibration values, "most" if to all but one in ten thousand.
        float_layers: layers that stay in float32: "first", "last", both or neither.
        difference: mean squared difference of its logits from those in float32.
        accuracy: share of noisy hold-out images that it answers rightly.
        agreement: share of them that it answers as the float32 network does.
    """

    model_config = STRICT

    bias: Literal["plain", "corrected"]
    ranges: Literal["all", "most"]
    float_layers: tuple[Literal["first", "last"], ...] = ()
    difference: float = Field(ge=0)
    accuracy: float = Field(ge=0, le=1)
    agreement: float = Field(ge=0, le=1)


class QuantizedEntry(BaseModel):
    """A network in int8 or bfloat16, as it was made.

    Not a statement about certificates: a quantised network is certified as itself.

    Args:
        precision: of its numbers.
        original: folder of the float32 network, relative to the card's.
        original_digest: the digest that network had.
        seven_bits: whether weights take half the range of int8, so that processors without VNNI do not saturate.
        chosen: the way that was taken; None in bfloat16, where there is nothing to choose.
        candidates: all ways that were measured.
        holdout: the images that calibrated and chose.
        accuracy_before: share of noisy hold-out images that the float32 network answers rightly.
        accuracy_after: the same of this one, by its runtime.
        agreement: share of them that both answer alike.
        runtime: the engine that was fastest, which runs it unless another is named.
        microseconds: of one vote by engine, on one thread, where it was made.
        versions: of the runtimes.
        probe: SHA-256 of the file `probe.safetensors`.
    """

    model_config = STRICT

    precision: Literal["int8", "bfloat16"]
    original: Place
    original_digest: Digest
    seven_bits: bool = False
    chosen: Candidate | None = None
    candidates: tuple[Candidate, ...] = Field(default=(), max_length=100)
    holdout: HoldoutUse
    accuracy_before: float = Field(ge=0, le=1)
    accuracy_after: float = Field(ge=0, le=1)
    agreement: float = Field(ge=0, le=1)
    runtime: Text
    microseconds: Figures
    versions: Annotated[dict[Text, Text], Field(max_length=100)]
    probe: Digest
