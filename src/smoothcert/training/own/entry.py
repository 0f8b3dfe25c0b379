"""What a training's configuration records about a module and images that were handed in, where others have names."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from smoothcert.fields import Digest, Text

_Numbers = Annotated[tuple[float, ...], Field(max_length=100_000)]


class OwnEntry(BaseModel):
    """What decides the weights of such a training beside the settings; a training under another entry is not resumed.

    Not proof of what was run: code is known as far as a fingerprint follows it, what a module reads from files is not.

    Args:
        module: dotted module and qualified name of the class.
        module_code: fingerprint of its code, structure and settings, and of which weights are frozen.
        module_weights: digest of its weights before the training; None for one that is made under the training's seed.
        noise_law: what `NoiseLaw.describe` returned.
        mean: per channel, in pixel units, of the layer put before it; empty for none.
        std: likewise.
        augmentation: name in `AUGMENTATIONS`, or name and fingerprint of a function of the user's own.
        holdout_digest: of hold-out images that were handed in; None where the training chose them, or there are none.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    module: Text
    module_code: Text
    module_weights: Digest | None
    noise_law: dict[Text, JsonValue] = Field(max_length=100)
    mean: _Numbers
    std: _Numbers
    augmentation: Text
    holdout_digest: Text | None
