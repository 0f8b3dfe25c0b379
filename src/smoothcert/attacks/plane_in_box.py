"""The nearest point of a plane within the pixel box: the step of the boundary attack."""

from __future__ import annotations

from smoothcert.on_demand import torch


def plane_in_box(points: torch.Tensor, normals: torch.Tensor, missing: torch.Tensor) -> torch.Tensor:
    """Return the shortest l2 change that brings each point onto its plane without leaving [0, 1].

    Where the box does not reach the plane, the change goes to the corner nearest to it. Exact, by sorting: the
    solution is the point moved along the normal by some length and clipped, so what is missing is a piecewise linear
    function of the length, with one kink per value that reaches its bound.

    Args:
        points: in [0, 1], (rows, values).
        normals: w, (rows, values).
        missing: by how much <w, x> must change, (rows,).
    """
    points, normals, missing = points.double(), normals.double(), missing.double()
    towards = normals * torch.where(missing < 0, -1.0, 1.0).unsqueeze(1)
    room = torch.where(towards > 0, 1 - points, points)  # before a value reaches its bound
    slopes = towards.square()
    kinks = torch.where(slopes > 0, room / torch.where(slopes > 0, towards.abs(), 1.0), torch.inf)
    kinks, order = kinks.sort(dim=1)
    slopes = slopes.gather(1, order)
    used = torch.where(slopes > 0, slopes * kinks, 0.0)  # inf x 0 is no number
    # Of the values that have not reached their bound before this kink.
    free = slopes.flip(1).cumsum(dim=1).flip(1)
    spent = used.cumsum(dim=1)
    # What the plane is nearer by at each kink; nowhere falling, so its first place to be enough is found by counting.
    gained = spent + torch.where(free > slopes, (free - slopes) * kinks, 0.0)
    last = ((gained < missing.abs().unsqueeze(1)) & (slopes > 0)).sum(dim=1, keepdim=True)
    place = last.clamp(max=kinks.shape[1] - 1)
    before = (spent - used).gather(1, place)
    left = free.gather(1, place)
    length = (missing.abs().unsqueeze(1) - before) / torch.where(left > 0, left, 1.0)
    reachable = left > 0
    moved = torch.where(reachable, points + length * towards, points + towards.sign())
    moved = torch.where(towards != 0, moved, points).clamp(0, 1)
    return (moved - points).float()
