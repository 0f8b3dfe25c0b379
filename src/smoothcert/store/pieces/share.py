"""A share of the images of a run: which of them one of several machines draws."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.visible import brief

MOST_SHARES = 100_000


@dataclass(frozen=True)
class Share:
    """The i-th of n shares: every n-th image from the i-th on, so that all have easy and hard ones alike.

    Args:
        number: from 1 on.
        of: how many there are.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of <= MOST_SHARES:
            raise InvalidArgumentError(
                f"shard must be I/N with I from 1 to N and N at most {MOST_SHARES:,}, such as 3/16; got "
                f"{brief(str(self))}"
            )

    @classmethod
    def read(cls, text: Any) -> Share:
        """Read "3/16"."""
        if not isinstance(text, str) or re.fullmatch(r"[1-9][0-9]{0,5}/[1-9][0-9]{0,5}", text) is None:
            raise InvalidArgumentError(
                f"shard must be I/N with I from 1 to N, such as 3/16; got {brief(text)}"
            )
        number, _, of = text.partition("/")
        return cls(int(number), int(of))

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def images(self, indices: Sequence[int]) -> Sequence[int]:
        """Return the share's images of all; none where there are more shares than images."""
        return indices[self.number - 1 :: self.of]
