"""The file `probe.safetensors` beside a quantised network: images, and what every engine answered to them."""

from __future__ import annotations

import hashlib
from pathlib import Path

import torch
from safetensors.torch import save as bytes_from_tensors

from smoothcert.errors import CheckpointError
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.weights_file import open_weights
from smoothcert.networks import Probe

PROBE_FILE = "probe.safetensors"
_IMAGES = "images"
_MOST_BYTES = 64 * 2**20


def probe_content(probe: Probe) -> bytes:
    """Return a probe as the bytes of its file.

    Args:
        probe: images and answers.
    """
    answers = {name: logits.contiguous() for name, logits in probe.answers.items()}
    content: bytes = bytes_from_tensors({_IMAGES: probe.images.contiguous(), **answers})
    return content


def probe_digest(content: bytes) -> str:
    """Return what a card calls the file by."""
    return hashlib.sha256(content).hexdigest()


def read_probe(card: ModelCard, path: Path) -> Probe:
    """Read the probe of a folder; refuse a file that is not the card's.

    Args:
        card: with `quantized`.
        path: of the file.
    """
    assert card.quantized is not None
    file = open_weights(path)
    if file.size > _MOST_BYTES:
        raise CheckpointError(
            f"{path} is larger than the {_MOST_BYTES:,} bytes that a probe may have; restore the file"
        )
    tensors = file.tensors()
    images = tensors.pop(_IMAGES, None)
    fits = (
        images is not None
        and len(images) > 0
        and tuple(images.shape[1:]) == tuple(card.input_shape)
        and all(tuple(one.shape) == (len(images), card.num_classes) for one in tensors.values())
        and all(
            one.dtype == torch.float32 and bool(one.isfinite().all()) for one in (images, *tensors.values())
        )
    )
    if (
        images is None
        or not fits
        or probe_digest(probe_content(Probe(images, tensors))) != card.quantized.probe
    ):
        raise CheckpointError(
            f"{path} is not the probe that the card beside it was written with; one of the two was changed: restore it"
        )
    return Probe(images, tensors)
