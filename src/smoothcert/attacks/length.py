"""Lengths of images: one l2 norm over all of an image's values."""

from __future__ import annotations

from smoothcert.on_demand import torch


def lengths(images: torch.Tensor) -> torch.Tensor:
    """Return the l2 norm of every image, (rows, 1, ...), ready to multiply images with."""
    norms: torch.Tensor = torch.linalg.vector_norm(images.flatten(1), dim=1)
    return norms.reshape(-1, *[1] * (images.dim() - 1))


def unit(images: torch.Tensor) -> torch.Tensor:
    """Return every image scaled to length 1; an image of zeros stays one.

    Not sensitive to scale: an image is divided by its largest value first, because the squares of a confident
    network's gradients vanish in float32.
    """
    largest = images.flatten(1).abs().amax(dim=1).reshape(-1, *[1] * (images.dim() - 1))
    scaled = images / torch.where(largest > 0, largest, 1.0)
    norms = lengths(scaled)
    return scaled / torch.where(norms > 0, norms, 1.0)


def shortened(images: torch.Tensor, longest: torch.Tensor | float) -> torch.Tensor:
    """Return every image scaled to at most the length `longest`: the projection onto the l2 ball."""
    norms = lengths(images)
    return images * torch.where(norms > longest, longest / torch.where(norms > 0, norms, 1.0), 1.0)
