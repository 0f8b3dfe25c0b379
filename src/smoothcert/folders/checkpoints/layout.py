"""Layouts: how published code names the weights of one kind of network, and which network of ours it is."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from smoothcert.errors import CheckpointError
from smoothcert.folders.weights_file import Entry
from smoothcert.networks import MODELS
from smoothcert.registry import Registry
from smoothcert.visible import brief

Entries = Mapping[str, Entry]
Rules = Sequence[tuple[str, str]]


@dataclass(frozen=True)
class Placed:
    """Where the weights of a file belong in a network of ours.

    Args:
        architecture: name in `MODELS`, or in `DENOISERS`.
        names: from the file's names to ours; what has no place is not there.
        first: the file's name of the first convolution's weights, which tell the channels of an image.
        last: that of the last layer's, which tell the classes; None for a denoiser.
        heads: number of heads; None for a plain network.
        size: depth and width of a denoiser; None for a network.
        variance_offset: to be added to the variances of batch norms, whose epsilon was larger than ours.
    """

    architecture: str
    names: dict[str, str]
    first: str
    last: str | None
    heads: int | None = None
    size: tuple[int, int] | None = None
    variance_offset: float = 0.0


@dataclass(frozen=True)
class Layout:
    """How the weights of one kind of network are named.

    Not a network, and not the publications that use it (`Family`).

    Args:
        summary: one line: which networks.
        mark: pattern of a name that every file of this layout has, and no other layout's.
        place: from names, types and shapes to the places in a network of ours. What a name without a place means is
            left to the caller.
    """

    summary: str
    mark: str
    place: Callable[[Entries], Placed]


LAYOUTS: Registry[Layout] = Registry("checkpoint layout", "smoothcert.folders.checkpoints.layouts", Layout)


def renamed(entries: Entries, ours: Callable[[str], str | None]) -> dict[str, str]:
    """Return our names of the weights whose layers have a place.

    Args:
        entries: by the file's names.
        ours: from a layer's name in the file to ours, None for one without a place; endings (.weight, ..) stay.
    """
    split = ((name, *name.rpartition(".")[::2]) for name in entries)
    return {
        name: f"{layer}.{ending}" for name, theirs, ending in split if (layer := ours(theirs)) is not None
    }


def by_rules(rules: Rules) -> Callable[[str], str | None]:
    """Return how to rename layers by the first of some rules that speaks of one.

    Args:
        rules: a pattern of a layer's name, and ours with \\1, \\2 for the pattern's groups.
    """

    def ours(layer: str) -> str | None:
        matches = ((re.fullmatch(pattern, layer), name) for pattern, name in rules)
        return next((match.expand(name) for match, name in matches if match is not None), None)

    return ours


def placed(entries: Entries, source: str) -> Placed:
    """Find the layout that a file has, and the places of all its weights; refuse one that is left over.

    Args:
        entries: type and shape of every tensor, by its name without wrappers' prefixes.
        source: names the file in messages.
    """
    for name in LAYOUTS:
        layout = LAYOUTS[name]
        if not any(re.fullmatch(layout.mark, one) for one in entries):
            continue
        found = layout.place(entries)
        needed = [one for one in (found.first, found.last) if one is not None and one not in entries]
        left = [one for one in entries if one not in found.names]
        if needed or left:
            fault = f"it lacks {needed[0]}" if needed else f"{brief(left[0])} has no place in it"
            raise CheckpointError(
                f"{source} looks like a {layout.summary}, but {fault}; give a file of such a network alone"
            )
        if found.size is None and found.architecture not in MODELS:
            raise CheckpointError(
                f"{source} holds a {layout.summary} that would be called {found.architecture!r}; known are "
                f"{', '.join(MODELS)}"
            )
        return found
    raise _unknown(entries, source)


def _unknown(entries: Entries, source: str) -> CheckpointError:
    """Say that no layout is known for a file; name the prefix that hides one, where there is such a prefix."""
    for name in LAYOUTS:
        for one in entries:
            hidden = re.fullmatch(rf"(.+\.){LAYOUTS[name].mark}", one)
            if hidden is not None:
                return CheckpointError(
                    f"names in {source} begin with {brief(hidden[1], 60)}, a prefix of no wrapper that is known "
                    "(module., 0. and 1. are); save the weights of the network alone"
                )
    known = "; ".join(LAYOUTS[name].summary for name in LAYOUTS)
    return CheckpointError(
        f"the names in {source} ({brief(next(iter(entries)), 60)}, ..) are those of no network that can be imported; "
        f"known: {known}"
    )
