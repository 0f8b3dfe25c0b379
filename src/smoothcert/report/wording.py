"""What a run is about, in words: its images, its setting, how far its votes can reach."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.amounts import amount, ordinal
from smoothcert.certificates import Reach
from smoothcert.noise import in_words
from smoothcert.radii import named_radii
from smoothcert.rounding import floor_digits


def setting_text(manifest: Mapping[str, Any], reach: Reach) -> str:
    """Return data, noise, norm, procedure, error probability and reach of a run in one line."""
    parts = setting_parts(manifest)
    return (
        f"{manifest['dataset']['name']} ({manifest['dataset']['split']}), {parts['noise']}, radii in {parts['norm']}, "
        f"procedure {parts['procedure']}, error at most {parts['alpha']} per image, {_reach_text(reach)}"
    )


def setting_parts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """Return noise, norm, procedure and alpha of a run in words, by these names."""
    noise = in_words({key: value for key, value in manifest["noise"].items() if key != "name"})
    derived = f" (turned from {manifest['norm_of_noise']})" if "norm_of_noise" in manifest else ""
    return {
        "noise": f"{manifest['noise']['name']} noise ({noise})",
        "norm": f"{manifest['norm']}{derived}",
        "procedure": _procedure_text(manifest["procedure"]),
        "alpha": f"{manifest['alpha']:g}",
    }


def unfinished_text(name: str, missing: int) -> str:
    """Return the warning about a run of which images are missing."""
    return (
        f"Warning: {name} is unfinished, {missing} of its images are missing; hard images end last, so its figures "
        "look better than they are. Continue it with --resume."
    )


def failed_text(name: str, failures: Mapping[int, str], images: int) -> str:
    """Return the warning about images that the model could not answer.

    Args:
        name: of the run.
        failures: reasons by image.
        images: of the run, those included.
    """
    first = min(failures)
    return (
        f"Warning: {name}: the model failed on {len(failures):,} of {amount(images, 'image')}, which count as not "
        f"certified (image {first}: {failures[first]}). The same command with --resume asks it again about these alone."
    )


def describe_indices(indices: NDArray[np.int64]) -> str:
    """Return an index set in words, because the choice of images moves every figure."""
    if len(indices) == 0:
        return "no images"
    ordered = np.sort(indices)
    steps = np.unique(np.diff(ordered))
    if len(ordered) == 1:
        return f"image {ordered[0]}"
    if len(steps) == 1:
        every = "" if steps[0] == 1 else f", every {ordinal(int(steps[0]))}"
        return f"images {ordered[0]} to {ordered[-1]}{every}"
    return f"{len(ordered)} images between {ordered[0]} and {ordered[-1]}"


def _reach_text(reach: Reach) -> str:
    """Return in words how far the votes of a run can reach."""
    if reach.largest is None:
        return "no radius provable with so few votes"
    if reach.asked is not None and reach.largest == reach.asked[-1]:
        return "each asked radius provable"
    return f"radii provable up to {floor_digits(reach.largest, 5)}"


def _procedure_text(procedure: Mapping[str, Any]) -> str:
    """Return a procedure with its numbers in words."""
    shown = {key: value for key, value in procedure.items() if key != "name" and value is not None}
    numbers = ", ".join(
        f"{key} {' '.join(f'{one:g}' for one in named_radii(value)) if isinstance(value, list) else value}"
        for key, value in shown.items()
    )
    return f"{procedure['name']} ({numbers})" if numbers else str(procedure["name"])
