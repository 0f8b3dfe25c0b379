"""How far a run's certificates could reach, from what its manifest says of noise, procedure and alpha."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from smoothcert.certificates import PROCEDURES, Reach
from smoothcert.errors import SmoothcertError, StoreError
from smoothcert.noise import noise_from
from smoothcert.radii import asked_radii
from smoothcert.store.other_radii import converted


def reach_of(manifest: Mapping[str, Any], *, runner_up: bool = True) -> Reach:
    """Return the reach of a run, in the norm that its manifest names.

    Args:
        manifest: what identifies the run, as stored or as `in_norm` returned it.
        runner_up: False for the radii of the default bound, where the run bounds the runner-up.
    """
    about = dict(manifest.get("procedure_of_noise", manifest["procedure"]))
    kind = PROCEDURES[about.pop("name")]
    if not runner_up:
        about.pop("runner_up", None)
    try:
        largest = kind(**about).plan(noise_from(manifest["noise"]), manifest["alpha"]).largest_radius
    except SmoothcertError as error:
        raise StoreError(
            f"there can be no run like the manifest says, so do not trust it: {error}"
        ) from error
    if largest is not None and "norm_of_noise" in manifest:
        largest = float(converted(largest, manifest, manifest["norm_of_noise"], manifest["norm"]))
    return Reach(largest, asked_radii(manifest.get("procedure", {})), norm=manifest["norm"])
