"""Where a network can be cut: its stages in order, and the two parts on either side of a border."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol, cast

from torch import nn

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks.normalize import Normalize

Stages = tuple[tuple[str, nn.Module], ...]


class StagedNetwork(Protocol):
    """A network that is no sequence of modules but can be cut like one."""

    def stages(self) -> Stages:
        """Return the named stages that, run in order, are the network; they share its weights."""
        ...


def stages_of(model: nn.Module) -> Stages:
    """Return the names and modules that, run in order, are the model; the first is "normalize".

    Not copies: the modules are the model's own, with its weights. A network can be cut before any stage but
    "normalize" (see `split_points`).

    Args:
        model: what `create_model` returned.
    """
    parts = dict(model.named_children())
    if not isinstance(model, nn.Sequential) or list(parts) != ["normalize", "network"]:
        raise InvalidArgumentError(
            f"model must come from create_model, which puts a normalisation before a network; "
            f"got {type(model).__name__} of {list(parts)}"
        )
    assert isinstance(parts["normalize"], Normalize)
    return (("normalize", parts["normalize"]), *network_stages(parts["network"]))


def network_stages(network: nn.Module) -> Stages:
    """Return the stages of a network without its normalisation, as an `Architecture` builds it."""
    if isinstance(network, nn.Sequential):
        return tuple(network.named_children())
    if not has_stages(network):
        raise InvalidArgumentError(
            "network must be an nn.Sequential of named stages, or have a method stages() that names them, got "
            f"{type(network).__name__}"
        )
    return cast(StagedNetwork, network).stages()


def has_stages(network: nn.Module) -> bool:
    """Return whether a network without its normalisation can be cut."""
    # Of the class: on an instance the name may be that of a layer, which can be called too.
    return isinstance(network, nn.Sequential) or callable(getattr(type(network), "stages", None))


def split_points(model: nn.Module) -> tuple[str, ...]:
    """Return the stages before which the model can be cut; before the first, the trunk only normalises.

    Args:
        model: what `create_model` returned.
    """
    return tuple(name for name, _ in stages_of(model) if name != "normalize")


def split_before(model: nn.Module, stage: str) -> tuple[nn.Sequential, nn.Sequential]:
    """Return the stages before a border and those from it on; one after the other they are the model.

    Not copies: both parts share the model's weights. Deep-copy the second to make another head.

    Args:
        model: what `create_model` returned.
        stage: name of the second part's first stage, one of `split_points`.
    """
    known = split_points(model)
    if stage not in known:
        raise UnknownNameError(f"unknown stage {stage!r}; the model can be cut before: {', '.join(known)}")
    stages = stages_of(model)
    border = 1 + known.index(stage)
    return nn.Sequential(OrderedDict(stages[:border])), nn.Sequential(OrderedDict(stages[border:]))
