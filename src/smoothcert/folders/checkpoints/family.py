"""Families of checkpoints: what the files of one publication have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

from smoothcert.registry import Registry

if TYPE_CHECKING:
    from smoothcert.data import DataSource
    from smoothcert.folders.checkpoints.layout import Placed

Numbers = tuple[tuple[float, ...], tuple[float, ...]]
"""Mean and standard deviation per channel, in pixel units."""
UNCHANGED: Numbers = ((0.0,), (1.0,))


class Normalisation(Enum):
    """What a family's first layer does to an image; its numbers are not in the files, but those of the data set."""

    STANDARDISED = "mean and std of the data set"
    CENTRED = "the data set's mean, without a std"
    NONE = "no normalisation"

    def numbers(self, source: DataSource) -> Numbers:
        """Return the numbers for images of a data set."""
        mean, std = source.mean, source.std
        return {
            Normalisation.STANDARDISED: (mean, std),
            Normalisation.CENTRED: (mean, (1.0,)),
            Normalisation.NONE: UNCHANGED,
        }[self]


@dataclass(frozen=True)
class Family:
    """What the checkpoints of one publication have in common.

    Not the names of their weights: those are a `Layout`, which several families share.

    Args:
        summary: one line: whose they are.
        holder: key under which the weights lie.
        normalisation: what the first layer does, where the file has no numbers for it.
        is_second: whether a layer that normalises stands before the network, in a sequence.
        heads: whether its networks have several heads.
        denoises: whether it has denoisers too.
        aliases: from its names of architectures to ours, where they differ.
        holdout: last training images that were not trained on.
        note: what to beware of, for the user.
    """

    summary: str
    holder: str
    normalisation: Normalisation
    is_second: bool = True
    heads: bool = False
    denoises: bool = False
    aliases: Mapping[str, str] = field(default_factory=dict)
    holdout: int = 0
    note: str = ""

    def meaning(self, name: str) -> str:
        """Return our name of an architecture."""
        return self.aliases.get(name, name)

    def fits(self, holder: str | None, is_second: bool, arch: str | None, found: Placed) -> bool:
        """Say whether a file may be of this family.

        Args:
            holder: key under which its weights lie; None where it is nothing but weights.
            is_second: whether the network was the second part of a sequence.
            arch: what the file calls its network; None where it does not.
            found: which network its weights are.
        """
        if arch is not None and self.meaning(arch) != found.architecture:
            return False
        if found.size is not None:
            return self.denoises and holder in (None, self.holder)
        # Weights that were saved without their holder are known by the layer before the network alone.
        held = holder == self.holder or (holder is None and is_second)
        return held and self.is_second == is_second and self.heads == (found.heads is not None)


FAMILIES: Registry[Family] = Registry(
    "family of checkpoints", "smoothcert.folders.checkpoints.families", Family
)
