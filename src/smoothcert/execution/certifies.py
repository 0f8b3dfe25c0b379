"""What is done with each image of a run: one classifier certified, or a panel of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol, TypeVar

import torch

from smoothcert.certificates import Plan
from smoothcert.sampling import Pool, Sampling


class SamplingOfImage(Sampling, Protocol):
    """The votes of one image under way."""

    @property
    def index(self) -> int:
        """The image's place in the keyed stream."""
        ...

    @property
    def votes_counted(self) -> int:
        """Votes counted so far."""
        ...

    @property
    def leading(self) -> int:
        """Those of them that are for the leading class."""
        ...


Under = TypeVar("Under", bound=SamplingOfImage)
Product = TypeVar("Product")
Made = TypeVar("Made", covariant=True)


class Certifies(Protocol[Under, Made]):
    """What is done with each image: a `Certification`, or that of a panel."""

    @property
    def plan(self) -> Plan:
        """The procedure, bound to noise and alpha."""
        ...

    def sampling(self, index: int, image: torch.Tensor, saved: Any = None) -> Under:
        """Return an image's sampling from the start, or from where `save` left it."""
        ...

    def save(self, sampling: Under) -> Any:
        """Return an unfinished sampling as plain values; None if it cannot be."""
        ...

    def conclude(self, sampling: Under) -> Made:
        """Return what a decided sampling proves."""
        ...

    def draw(
        self,
        samplings: Iterable[Under],
        pool: Pool,
        *,
        batch_size: int,
        on_decided: Callable[[Under], None],
        on_failed: Callable[[Under], None],
        on_batch: Callable[[list[Under]], None],
        every: float,
    ) -> None:
        """Draw what samplings ask for until all are decided."""
        ...
