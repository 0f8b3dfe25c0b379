"""Noisy copies of an image for studies of what a network answers to them; no votes, and nothing is proven with them."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from smoothcert.noise import NoiseLaw
from smoothcert.seeding import KeyedGenerator, stream_key

_ROWS = 64  # noisy copies per forward pass, as many as a chunk of votes has


def noisy_batches(
    image: torch.Tensor, noise: NoiseLaw, copies: int, generator: KeyedGenerator, seed: int, index: int
) -> Iterator[torch.Tensor]:
    """Yield batches of a fixed size, the last drawn whole too, so that more copies keep the first ones.

    Args:
        image: without a batch dimension.
        noise: law of the noise.
        copies: how many are wanted; the batches may hold some more.
        generator: to draw with.
        seed: of the noise, in [0, 2^128).
        index: the image's place in its data set.
    """
    for chunk in range(-(-copies // _ROWS)):
        batch = torch.empty(_ROWS, *image.shape)
        noise.perturb(image, batch, generator.at(stream_key(seed, index, "theory", chunk)))
        yield batch
