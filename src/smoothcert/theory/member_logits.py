"""What the variance model is fitted to: the logits of every member on noisy copies of some images."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from smoothcert.arguments import check_whole
from smoothcert.data import Dataset
from smoothcert.engines import single_threaded_torch
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.networks import padded
from smoothcert.noise import NoiseLaw
from smoothcert.progress import progress
from smoothcert.seeding import KeyedGenerator
from smoothcert.theory.noisy_copies import noisy_batches


@runtime_checkable
class MemberEnsemble(Protocol):
    """Any ensemble that can ask its members one by one, whatever its rule and whether or not it stops early."""

    def member_logits(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the logits of every member, (rows, members, classes)."""
        ...

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        """Return the ensemble's logits, (rows, classes), from those of its members."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """Yield the weights, which say where the ensemble is."""
        ...


@dataclass(frozen=True, eq=False)
class MemberLogits:
    """Logits of K members on I images, clean and under N noises each; the noises are shared by the members.

    Not votes, and nothing is proven with them.

    Args:
        clean: on the images themselves, (I, K, classes).
        noisy: on noisy copies, (I, N, K, classes).
        answers: class that the whole ensemble gives by its own rule to each noisy copy, (I, N).
        labels: true classes, (I,).
    """

    clean: NDArray[Any]
    noisy: NDArray[Any]
    answers: NDArray[np.int64]
    labels: NDArray[np.int64]

    def __post_init__(self) -> None:
        if self.noisy.ndim != 4 or self.clean.shape != (self.noisy.shape[0], *self.noisy.shape[2:]):
            raise InvalidArgumentError(
                "noisy must be (images, noises, members, classes) and clean the same without noises, "
                f"got {self.noisy.shape} and {self.clean.shape}"
            )
        images, noises, members, classes = self.noisy.shape
        for name, number, least in (
            ("images", images, 1),
            ("noises", noises, 2),
            ("members", members, 2),
            ("classes", classes, 2),
        ):
            if number < least:
                raise InvalidArgumentError(f"variances need at least {least} {name}, got {number}")

    @property
    def members(self) -> int:
        """Number of members K."""
        return int(self.noisy.shape[2])


def collect_member_logits(
    ensemble: MemberEnsemble,
    noise: NoiseLaw,
    dataset: Dataset,
    *,
    indices: Sequence[int],
    noises: int,
    seed: int,
) -> MemberLogits:
    """Ask every member about noisy copies of images; the same logits for the same seed.

    Args:
        ensemble: in eval mode.
        noise: law of the noise.
        dataset: where the images come from.
        indices: which of its images.
        noises: noisy copies per image, >= 2.
        seed: of the noise, in [0, 2^128).
    """
    check_whole("noises", noises, 2)
    if not indices:
        raise InvalidArgumentError("indices must name at least one image, got none")
    weight = next(ensemble.parameters(), None)
    device = torch.device("cpu") if weight is None else weight.device
    generator, clean, noisy, answers = KeyedGenerator(), [], [], []
    with (
        torch.inference_mode(),
        single_threaded_torch(),
        progress("asking members", len(indices), shown=True) as show,
    ):
        for done, index in enumerate(indices, start=1):
            image = dataset.image(index)
            batches = noisy_batches(image, noise, noises, generator, seed, index)
            together = torch.cat([ensemble.member_logits(batch.to(device)) for batch in batches])[:noises]
            clean.append(
                ensemble.member_logits(padded(image.unsqueeze(0).to(device)))[0].float().cpu().numpy()
            )
            noisy.append(together.float().cpu().numpy())
            answers.append(ensemble.combine(together).argmax(dim=1).cpu().numpy())
            show(done, f"{noises} noisy copies each")
    logits = MemberLogits(np.stack(clean), np.stack(noisy), np.stack(answers), dataset.labels[list(indices)])
    if not (np.isfinite(logits.noisy).all() and np.isfinite(logits.clean).all()):
        raise ModelOutputError("a member answered with NaN or infinite logits; no variance can be computed")
    return logits
