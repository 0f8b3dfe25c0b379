"""Square attack (Andriushchenko et al. 2020) in l2: a random search that looks at answers only, never at gradients."""

from __future__ import annotations

import math
from functools import cache

from smoothcert.attacks.length import unit
from smoothcert.attacks.mean_softmax import MeanSoftmax
from smoothcert.attacks.method import Part
from smoothcert.attacks.search import Search
from smoothcert.on_demand import torch

QUERIES = 5_000
"""Published: proposals tried for an image."""

FIRST_SHARE = 0.8
"""Published: share of the pixels that the first windows cover, p in the paper."""

_HALVED_AFTER = (10, 50, 200, 500, 1_000, 2_000, 4_000, 6_000, 8_000)  # queries, as published for 10,000
_TILES = 5  # per side of the first pattern
_LEAST_SIDE = 3
_NOT_ZERO = 1e-12


def window_side(query: int, height: int, width: int) -> int:
    """Return the odd side of the windows of one query, in pixels.

    Args:
        query: number of the query, from 0.
        height: of the image, in pixels.
        width: of the image, in pixels.
    """
    share = FIRST_SHARE / 2 ** sum(query > after for after in _HALVED_AFTER)
    side = max(round(math.sqrt(share * height * width)), _LEAST_SIDE)
    most = min(height, width)
    return min(side + 1 - side % 2, most - 1 + most % 2)


def square(smoothed: MeanSoftmax, images: torch.Tensor, labels: torch.Tensor, *, eps: float) -> torch.Tensor:
    """Return the images of smallest margin met within `eps`; a row is left alone once it is fooled.

    Args:
        smoothed: what is attacked.
        images: clean images in [0, 1], (rows, channels, height, width).
        labels: class indices, (rows,).
        eps: radius of the l2 ball, in pixel units.
    """
    channels, height, width = images.shape[1:]
    draws = [_Draws(generator, channels) for generator in smoothed.generators("square")]
    first = torch.stack([_first_pattern(one, height, width) for one in draws]).to(images)
    best = (images + eps * unit(first)).clamp(0, 1)
    margins = _margins(smoothed.answers(best), labels)
    left = (margins > 0).nonzero().flatten()
    some = smoothed.only(left)
    for query in range(QUERIES):
        if not len(left):
            break
        side = window_side(query, height, width)
        changes = [_proposal(best[row] - images[row], side, eps, draws[row]) for row in left.tolist()]
        tried = (images[left] + eps * unit(torch.stack(changes))).clamp(0, 1)
        reached = _margins(some.answers(tried), labels[left])
        better = reached < margins[left]
        best[left[better]], margins[left[better]] = tried[better], reached[better]
        still = margins[left] > 0
        if not bool(still.all()):
            left = left[still]
            some = smoothed.only(left)
    return best


class _Draws:
    """Random numbers of one row, drawn for many queries at once."""

    def __init__(self, generator: torch.Generator, channels: int) -> None:
        self._generator, self._channels = generator, channels
        self._table: list[list[float]] = []

    def next(self) -> tuple[list[float], torch.Tensor]:
        """Return five numbers in [0, 1), and one sign per channel, (channels, 1, 1)."""
        if not self._table:
            self._table = torch.rand((500, 5 + self._channels), generator=self._generator).tolist()
        row = self._table.pop()
        signs = torch.tensor([1.0 if value < 0.5 else -1.0 for value in row[5:]])
        return row[:5], signs.reshape(-1, 1, 1)


def _margins(answers: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return how far the label leads the best other class; at most 0 where it does not."""
    own = answers.gather(1, labels.unsqueeze(1)).squeeze(1)
    return own - answers.scatter(1, labels.unsqueeze(1), -torch.inf).amax(dim=1)


@cache
def _hill(height: int, width: int) -> torch.Tensor:
    """Return a hill of nested rectangles that falls off as 1, 1/4, 1/9, .., of length 1, (height, width)."""
    rows = (torch.arange(height) - height // 2).abs().unsqueeze(1)
    columns = (torch.arange(width) - width // 2).abs()
    rings = torch.maximum(rows, columns)
    falling = torch.tensor([1.0 / (ring + 1) ** 2 for ring in range(int(rings.max()) + 1)])
    heights = falling.flip(0).cumsum(0).flip(0)[rings]
    return unit(heights.unsqueeze(0)).squeeze(0)


@cache
def _up_and_down(side: int) -> torch.Tensor:
    """Return a hill beside a hollow, of length 1, (side, side)."""
    half = side // 2
    parts = [_hill(half, side)] if half else []
    pattern = torch.cat([*parts, -_hill(side - half, side)])
    return unit(pattern.unsqueeze(0)).squeeze(0)


def _turned(pattern: torch.Tensor, number: float) -> torch.Tensor:
    return pattern.T if number < 0.5 else pattern


def _first_pattern(draws: _Draws, height: int, width: int) -> torch.Tensor:
    """Return tiles of hills and hollows with random signs, (channels, height, width)."""
    side = max(min(height, width) // _TILES, 1)
    tiles = [
        torch.cat([_tile(draws, side) for _ in range(width // side)], dim=2) for _ in range(height // side)
    ]
    pattern = torch.cat(tiles, dim=1)
    down, right = height - pattern.shape[1], width - pattern.shape[2]
    return torch.nn.functional.pad(pattern, (right // 2, right - right // 2, down // 2, down - down // 2))


def _tile(draws: _Draws, side: int) -> torch.Tensor:
    numbers, signs = draws.next()
    return _turned(_up_and_down(side), numbers[0]) * signs


def _proposal(change: torch.Tensor, side: int, eps: float, draws: _Draws) -> torch.Tensor:
    """Return a change whose length in one window is moved to another, where a new pattern is added to the old."""
    channels, height, width = change.shape
    numbers, signs = draws.next()
    downs, rights = (
        [int(v * (n - side + 1)) for v in numbers[i::2][:2]] for i, n in ((0, height), (1, width))
    )
    new = (slice(None), slice(downs[0], downs[0] + side), slice(rights[0], rights[0] + side))
    old = (slice(None), slice(downs[1], downs[1] + side), slice(rights[1], rights[1] + side))
    covered = torch.zeros((height, width), dtype=torch.bool)
    covered[new[1:]] = covered[old[1:]] = True
    budget = (eps**2 - change.square().sum()).clamp(min=0) / channels
    budget = (budget + (change * covered).square().sum()).sqrt()
    window = change[new]
    pattern = _turned(_up_and_down(side), numbers[4]) * signs
    pattern = pattern + window / (_NOT_ZERO + window.flatten(1).norm(dim=1).reshape(-1, 1, 1))
    pattern = pattern / (_NOT_ZERO + pattern.flatten(1).norm(dim=1).reshape(-1, 1, 1))
    moved = change.clone()
    moved[old] = 0.0
    moved[new] = budget * pattern
    return moved


SQUARE = Search(square, lambda classes: Part("square", f"{QUERIES:,} queries", QUERIES + 1), images_only=True)
