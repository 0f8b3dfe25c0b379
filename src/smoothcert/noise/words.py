"""Random words by the block: what laws that compare whole numbers are made from.

torch's CPU generator takes longer for a number than the rest of a law: a Mersenne Twister asked for one word at a
time. On the CPU 192 of its bits start an SFC64 stream of NumPy's instead, which gives a 64-bit word in half the time
that torch takes for one. On other devices torch's generator is the fast one, and is used as it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random.bit_generator import ISeedSequence
from numpy.typing import NDArray
from typing_extensions import override

from smoothcert.on_demand import torch

_BLOCK = 2**17  # values made at a time, so that what they are made from stays in a core's cache
_SEED_WORDS = 3  # of 64 bits: all that an SFC64 state has beside its counter
_LEAST = -(2**63)


class Words:
    """The random words of one draw; a generator placed at the start of a stream gives the same ones again.

    Not a stream of its own: what it gives follows from the generator, which is left a few words further on, however
    many are asked for.

    Args:
        generator: keyed, or any other that has more than 128 bits of state to start from.
    """

    def __init__(self, generator: torch.Generator) -> None:
        self._generator = generator
        self._fast: np.random.SFC64 | None = None
        if generator.device.type == "cpu":
            start = self._from_generator(_SEED_WORDS).numpy().view(np.uint64)
            self._fast = np.random.SFC64(_Start(start))  # type: ignore[arg-type]  # an ISeedSequence, as documented

    @property
    def device(self) -> torch.device:
        """Where they are made."""
        return self._generator.device

    @property
    def on_cpu(self) -> bool:
        """Whether they come by `raw` too."""
        return self._fast is not None

    def raw(self, count: int) -> NDArray[np.uint64]:
        """Return `count` random 64-bit words as an array, which only the CPU has: NumPy's steps are short there."""
        if self._fast is None:
            raise RuntimeError("only the CPU has words as an array")
        words: NDArray[np.uint64] = self._fast.random_raw(count)
        return words

    def integers(self, count: int) -> torch.Tensor:
        """Return `count` random 64-bit integers on the generator's device, all values equally likely."""
        if self.on_cpu:
            return torch.from_numpy(self.raw(count).view(np.int64))
        return self._from_generator(count)

    def _from_generator(self, words: int) -> torch.Tensor:
        """Return 64-bit integers of torch's own."""
        empty = torch.empty(words, dtype=torch.int64, device=self.device)
        return empty.random_(_LEAST, None, generator=self._generator)


class _Start(ISeedSequence):
    """Hands words to a bit generator as they are: they are random already, and no two keys share them."""

    def __init__(self, words: NDArray[np.uint64]) -> None:
        self._words = words

    @override
    def generate_state(self, n_words: int, dtype: Any = np.uint32) -> NDArray[np.uint64]:
        if (n_words, np.dtype(dtype)) != (len(self._words), self._words.dtype):
            raise RuntimeError("this NumPy release starts SFC64 otherwise; see constraints.txt")
        return self._words


def in_blocks(out: torch.Tensor) -> tuple[torch.Tensor, ...]:
    """Return a tensor's rows in blocks that suit a core's cache; which ones depends on its shape alone."""
    return torch.split(out, max(1, _BLOCK // max(out[:1].numel(), 1)))
