"""What a training starts from beside data: members to fine-tune, or a classifier to put a denoiser before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import DENOISERS, MODELS
from smoothcert.training.objective import OBJECTIVES

if TYPE_CHECKING:
    from smoothcert.training.config import TrainConfig

PLACES = frozenset({"data_dir", "members", "classifier"})
"""Settings that say where files lie: their content decides the weights and is held by digests, so they may change."""


def with_default_model(values: dict[str, Any]) -> dict[str, Any]:
    """Fill in the network of a method that trains no plain one, where none is given."""
    method = values.get("method")
    known = isinstance(method, str) and method in OBJECTIVES
    if "model" not in values and known and OBJECTIVES[str(method)].trains == "denoiser":
        return {**values, "model": "dncnn"}
    return values


def refuse_mixture(config: TrainConfig) -> None:
    """Refuse settings of one kind of training in another: networks, members of an ensemble, denoisers."""
    trains = OBJECTIVES[config.method].trains
    if (config.model in DENOISERS) != (trains == "denoiser"):
        known = DENOISERS if trains == "denoiser" else MODELS
        raise InvalidArgumentError(
            f"method {config.method!r} does not train model {config.model!r}; choose one of {', '.join(known)}"
        )
    for name, owner in _OWNERS.items():
        if getattr(config, name) is not None and trains != owner:
            raise InvalidArgumentError(
                f"{name} is for methods that train {_CALLED[owner]}, and method {config.method!r} does not; "
                "leave it out"
            )
    if config.heads is not None and trains != "network":
        raise InvalidArgumentError(
            f"heads are for methods that train a network, and method {config.method!r} does not; leave them out"
        )
    if config.members is not None and len(config.members) < 2:
        raise InvalidArgumentError(
            f"members must name at least 2 model folders to fine-tune together, got {list(config.members)}"
        )


def size_of(config: TrainConfig) -> tuple[int, int]:
    """Return depth and width of the denoiser of a configuration."""
    named = DENOISERS[config.model]
    return config.depth or named.depth, config.width or named.width


_OWNERS = {"members": "members", "classifier": "denoiser", "depth": "denoiser", "width": "denoiser"}
_CALLED = {"members": "the members of an ensemble", "denoiser": "a denoiser"}
