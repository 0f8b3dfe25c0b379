"""The randomness of one training step, the same numbers however many processes share the step."""

from __future__ import annotations

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import NoiseLaw
from smoothcert.on_demand import torch


class NoiseSource:
    """Draws noisy copies and uniform numbers for this process's rows of a step.

    Not a generator: with several processes each one draws for the whole step and keeps its own rows, so that two
    processes train on the same numbers as one.

    Args:
        noise: the law of the noise.
        generator: placed at the start of the step's stream; on the device of the images.
        first: place of this process's first row in the step.
        total: rows of the whole step; None if this process has them all.
    """

    def __init__(
        self, noise: NoiseLaw, generator: torch.Generator, *, first: int = 0, total: int | None = None
    ) -> None:
        self.noise, self._generator, self._first, self._total = noise, generator, first, total

    def copies(self, images: torch.Tensor, m: int) -> torch.Tensor:
        """Return m noisy copies of every image, (m, rows, ...), in a new tensor."""
        rows = images.shape[0]
        if self._total is None or self._total == rows:
            drawn = images.new_empty((m, *images.shape))
            self.noise.perturb(images, drawn, self._generator)
            return drawn
        whole = images.new_zeros((self._total, *images.shape[1:]))
        mine = slice(self._first, self._first + rows)
        whole[mine] = images
        drawn = images.new_empty((m, *whole.shape))
        self.noise.perturb(whole, drawn, self._generator)
        return drawn[:, mine]

    def offsets(self, images: torch.Tensor, m: int) -> torch.Tensor:
        """Return what m noisy copies add to every image, (m, rows, ...): for losses at moving images.

        Exact for additive laws, whose noise does not depend on the image; others are refused.
        """
        if not self.noise.is_additive:
            raise InvalidArgumentError(
                f"this method moves images under fixed noise, which noise {self.noise.law_name!r} does not allow: it "
                "depends on the image; choose a method that leaves images where they are"
            )
        return self.copies(torch.zeros_like(images), m)

    def uniform(self, rows: int, device: torch.device) -> torch.Tensor:
        """Return one number in [0, 1) per row, (rows,)."""
        drawn = torch.rand(self._total or rows, generator=self._generator, device=device)
        return drawn[self._first : self._first + rows]
