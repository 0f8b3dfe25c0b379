"""Denoisers by name: how large they are, told without building one."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.registry import Table

_KERNEL = 3 * 3


@dataclass(frozen=True)
class DenoiserSize:
    """How large a denoiser by name is.

    Not a network: it holds no weights.

    Args:
        summary: one line for listings.
        depth: convolutions in all.
        width: channels between them.
    """

    summary: str
    depth: int = 17
    width: int = 64

    def parameters(self, channels: int) -> int:
        """Return the trainable parameters for images with so many channels."""
        ends = 2 * _KERNEL * channels * self.width + self.width  # the first has a bias
        return ends + (self.depth - 2) * (_KERNEL * self.width**2 + 2 * self.width)

    def multiply_adds(self, input_shape: tuple[int, ...]) -> int:
        """Return those of one image's forward pass.

        Args:
            input_shape: (channels, height, width).
        """
        channels, height, width = input_shape
        per_pixel = _KERNEL * self.width * (2 * channels + (self.depth - 2) * self.width)
        return per_pixel * height * width


DENOISERS: Table[DenoiserSize] = Table("denoiser")
DENOISERS.register("dncnn")(DenoiserSize("DnCNN as published: 17 convolutions of 64 channels"))
DENOISERS.register("dncnn-wide")(DenoiserSize("DnCNN with twice the channels, 128", width=128))
DENOISERS.register("dncnn-small")(
    DenoiserSize("DnCNN for small machines: 5 convolutions of 24 channels (ours)", depth=5, width=24)
)
