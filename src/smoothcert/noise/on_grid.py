"""A change of an 8-bit image that stays one."""

from __future__ import annotations

from smoothcert.on_demand import torch

_STEPS = 255
_NOTHING = 1e-3  # of a step: what float32 makes of a pixel that was not moved


def on_grid(moved: torch.Tensor, clean: torch.Tensor, reach: float) -> torch.Tensor:
    """Return an image of whole steps of 1/255 near `moved`, within an l2 distance of the clean one.

    Not the nearest: cut towards the clean image first, then the largest remainders are rounded away from it while
    the distance allows. Cutting alone would undo small changes altogether.

    Args:
        moved: the changed image, in [0, 1].
        clean: the image it was, of whole steps.
        reach: l2 distance that must not be exceeded, in pixel units.
    """
    start = (clean.double() * _STEPS).round().flatten()
    change = moved.double().flatten() * _STEPS - start
    whole = change.trunc()
    left = torch.where((change - whole).abs() > _NOTHING, change - whole, 0.0)
    order = left.abs().argsort(descending=True, stable=True)
    # One step more makes a square of (|w| + 1)^2 out of w^2.
    cost = torch.where(left != 0, 2 * whole.abs() + 1, torch.zeros_like(whole))[order].cumsum(0)
    taken = order[whole.square().sum() + cost <= (reach * _STEPS) ** 2]
    whole[taken] += left[taken].sign()
    return ((start + whole) / _STEPS).to(clean.dtype).reshape(clean.shape)
