"""What the certificates of a run are about, in words: the unit of a radius, and whether arithmetic is covered."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from smoothcert.noise import NOISE_LAWS

UNTOLD = "untold"
"""Stands for the norm of logs that do not tell theirs."""
_SYMBOLS = {"l0": "ℓ₀", "l1": "ℓ₁", "l2": "ℓ₂", "linf": "ℓ∞"}


def norm_symbol(norm: str) -> str:
    """Return a norm as formulas write it."""
    return _SYMBOLS.get(norm, norm)


def radius_axis(norm: str) -> str:
    """Return the label of an axis of radii."""
    if norm == UNTOLD:
        return "radius (norm not told by the log)"
    unit = "coordinates that may change" if norm == "l0" else "pixel units of [0, 1] images"
    return f"radius ({norm_symbol(norm)}, {unit})"


def radius_sentence(norm: str) -> str:
    """Return what a radius measures."""
    if norm == "l0":
        return (
            f"The radius is a distance in the {norm_symbol(norm)} norm: how many coordinates may change, to any value; "
            "every channel of a pixel counts by itself."
        )
    if norm == UNTOLD:
        return "The radius is a distance in the norm of the noise, which the logs here do not tell."
    unit = "in pixel units of images whose pixels span [0, 1]"
    return f"The radius is a distance in the {norm_symbol(norm)} norm, {unit}."


def holds_in_floats(manifests: Iterable[Mapping[str, Any]]) -> bool:
    """Return whether the noise of all runs is drawn exactly as the proof has it."""
    return all(NOISE_LAWS[manifest["noise"]["name"]].holds_in_floats for manifest in manifests)


IN_FLOATS = (
    "It holds in floating point: the noise is drawn as the proof has it, and what tables and rounding could change is "
    "taken off the probability."
)
NOT_IN_FLOATS = (
    "Protection against floating-point tricks: the proof is about real-valued noise, the noise here is floating point, "
    "and a classifier made to read its low bits can cheat. certify --sound draws noise that is covered, for images of "
    "8 bits."
)
