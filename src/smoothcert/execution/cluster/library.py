"""Ray, which is an extra: imported where it is used, and missed by name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from smoothcert.errors import InvalidArgumentError


def ray_library() -> Any:
    """Return the module `ray`; a missing one is an error that says how to get it."""
    try:
        return import_module("ray")
    except ImportError as error:
        raise InvalidArgumentError(
            f"Ray cannot be imported ({error}); install it with pip install 'smoothcert[ray]', or draw the votes here, "
            "without --ray"
        ) from None
