"""The numbers by which an imported network's first layer normalises: from the file, the user or the family.

Nothing is guessed: with other numbers than those of its training a network answers, and answers badly.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from smoothcert.data import DataSource
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.checkpoints.family import FAMILIES, UNCHANGED, Normalisation, Numbers
from smoothcert.visible import brief

_SAY = "say --mean and --std, or --no-normalize for images as they are (mean=, std=, normalize=False)"


@dataclass(frozen=True)
class Told:
    """What the user says about normalisation.

    Args:
        mean: per channel, in pixel units; None where nothing is said.
        std: likewise; 1 where images were only centred.
        normalize: False for images as they are.
    """

    mean: Sequence[float] | None = None
    std: Sequence[float] | None = None
    normalize: bool = True

    def numbers(self) -> Numbers | None:
        """Return the numbers, None where nothing is said; refuse half of them."""
        if (self.mean is None) != (self.std is None):
            raise InvalidArgumentError(
                "mean and std are given together; std is 1 where images were only centred, mean is 0 where only scaled"
            )
        if self.mean is None or self.std is None:
            return None if self.normalize else UNCHANGED
        if not self.normalize:
            raise InvalidArgumentError(
                "mean and std are given, and no normalisation is asked for; leave one out"
            )
        return tuple(map(float, self.mean)), tuple(map(float, self.std))


def chosen_numbers(
    source: str,
    told: Told,
    buffers: dict[str, torch.Tensor],
    families: Sequence[str],
    dataset: DataSource | None,
) -> tuple[Numbers, str]:
    """Return mean and std, and in words where they come from; ask where nothing says them.

    Args:
        source: names the file in messages.
        told: by the user.
        buffers: of the layer before the network, "mean" and "std", where the file has them.
        families: that the file may be of.
        dataset: the one trained on; None where it is not known.
    """
    said = told.numbers()
    if buffers:
        own = _of_buffers(source, buffers)
        if said is not None and not _equal(said, own):
            raise InvalidArgumentError(
                f"{source} itself normalises by mean {brief(own[0])} and std {brief(own[1])}; leave the others out"
            )
        return own, "the file's own"
    if said is not None:
        return said, "as told"
    kinds = {name: FAMILIES[name].normalisation for name in families}
    if set(kinds.values()) == {Normalisation.NONE}:
        return UNCHANGED, "the family's"
    if dataset is None:
        raise InvalidArgumentError(
            f"nothing says how images are normalised for {source}; say --dataset NAME (dataset=) whose numbers count, "
            f"or {_SAY}"
        )
    if not kinds:
        return (dataset.mean, dataset.std), "the data set's, which no family confirms"
    return _of_families(source, kinds, dataset)


def _of_families(source: str, kinds: dict[str, Normalisation], dataset: DataSource) -> tuple[Numbers, str]:
    """Return the numbers that families agree on; else ask.

    Statistics in the weights have no say: those of a batch norm fit one choice or another by the noise of the training,
    which no file tells.
    """
    choices = {kind.numbers(dataset): kind for kind in kinds.values()}
    if len(choices) == 1:
        return next(iter(choices)), "the data set's, as the family has it"
    told_apart = "; ".join(
        f"{', '.join(name for name in kinds if kinds[name] is kind)}: {kind.value}"
        for kind in choices.values()
    )
    raise InvalidArgumentError(
        f"{source} does not say how images are normalised, and it may be of several families ({told_apart}); say "
        f"--family NAME (family=), or {_SAY}"
    )


def _of_buffers(source: str, buffers: dict[str, torch.Tensor]) -> Numbers:
    if "mean" not in buffers or any(tensor.numel() > 2**12 for tensor in buffers.values()):
        raise CheckpointError(
            f"the layer before the network in {source} has no mean that can be read; save the network's weights alone "
            f"and {_SAY}"
        )
    ones = torch.ones(1)
    mean, std = (tuple(buffers.get(name, ones).double().flatten().tolist()) for name in ("mean", "std"))
    return mean, std


def _equal(one: Numbers, other: Numbers) -> bool:
    """Say whether numbers are the same as 32-bit floats, which is what a layer keeps; one stands for all channels."""
    return all(
        torch.equal(*(torch.tensor(values * (1 if len(values) > 1 else most)) for values in pair))
        for pair in zip(one, other, strict=True)
        for most in [max(map(len, pair))]
    )
