"""From a card and weights to the model, refusing weights of another network before anything large is built."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import nn

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders.model_card import DenoisedEntry, ModelCard
from smoothcert.folders.tensors import checked_state, entries_of
from smoothcert.folders.weights_file import Entry
from smoothcert.networks import Denoised, DnCNN, Normalize, refuse_shapes, weights_digest
from smoothcert.visible import brief

_NORMALISATION = {"mean": "normalize.mean", "std": "normalize.std"}


def refuse_other_network(
    card: ModelCard, entries: Mapping[str, Entry], source: str, own: nn.Module | None = None
) -> None:
    """Refuse weights whose names, shapes or types are not those of the network that a card describes.

    Builds on the meta device, where a network of any width takes no memory; its number of layers is bounded by that
    of the weights.

    Args:
        card: its network, or its denoiser, is what the weights are of.
        entries: type and shape of every tensor.
        source: names the weights in messages.
        own: the module that they are for, where it is code of the user's own.
    """
    if own is None:
        _refuse_count(card, entries, source)
        with torch.device("meta"):
            wanted = entries_of(_network(card, source).state_dict())
    else:
        wanted = entries_of(checked_state(own))
    for name, entry in wanted.items():
        if name not in entries:
            raise _misfit(card, source, f"Missing key {name!r}")
        if entry != entries[name]:
            raise _misfit(
                card, source, f"size mismatch for {name!r}: {_said(entries[name])}, not {_said(entry)}"
            )
    for name in entries:
        if name not in wanted:
            raise _misfit(card, source, f"Unexpected key {brief(name)}")
    if len(card.class_names) != card.num_classes:
        raise CheckpointError(
            f"the card of {source} has {len(card.class_names)} class_names for {card.num_classes} classes; fix it"
        )


def filled(
    card: ModelCard,
    tensors: dict[str, torch.Tensor],
    behind: tuple[nn.Module, ModelCard] | None,
    source: str,
    own: nn.Module | None = None,
) -> nn.Module:
    """Build the model of a card with its weights, which `refuse_other_network` has let pass.

    Args:
        card: what to build.
        tensors: weights of the network, or of the denoiser.
        behind: the classifier behind a denoiser, and its card.
        source: names the weights in messages.
        own: a copy of the module of the user's own that they are for; it is filled.
    """
    with torch.random.fork_rng(devices=[]):  # the weights drawn here are thrown away
        network = _network(card, source) if own is None else own
    _fill(network, tensors, source)
    if card.denoised is not None:
        assert behind is not None
        return _joined(card, card.denoised, network, *behind, source)
    told = Normalize(card.input_shape, card.mean, card.std).state_dict()
    for name, ending in _NORMALISATION.items():
        # A module of the user's own may have names like ours inside, and no layer of ours before it.
        keys = (
            [key for key in tensors if key.endswith(ending)] if own is None else [ending] if card.mean else []
        )
        if any(not torch.equal(tensors[key], told[name]) for key in keys):
            raise CheckpointError(f"{source} normalises by other numbers than mean and std in the card")
    return network


def _fill(network: nn.Module, tensors: dict[str, torch.Tensor], source: str) -> None:
    try:
        network.load_state_dict(tensors, strict=True)
    except Exception as error:  # of a module of the user's own: ours were compared by name and shape
        raise CheckpointError(
            f"the module {type(network).__name__} does not take the weights of {source} ({type(error).__name__}: "
            f"{error}); give one whose load_state_dict takes what its state_dict gave"
        ) from error


def _network(card: ModelCard, source: str) -> nn.Module:
    """Build what the folder of a card holds the weights of, with random ones."""
    try:
        if card.denoised is None:
            return card.build()
        return DnCNN(card.input_shape[0], card.denoised.depth, card.denoised.width)
    except SmoothcertError as error:
        raise CheckpointError(f"cannot build the network that the card of {source} names: {error}") from error


def _joined(
    card: ModelCard,
    entry: DenoisedEntry,
    denoiser: nn.Module,
    classifier: nn.Module,
    found: ModelCard,
    source: str,
) -> Denoised:
    """Put a denoiser before its classifier, and hold both to what the card says of them."""
    for what, told, digest in (
        ("classifier", entry.classifier_digest, found.digest),
        ("denoiser", entry.digest, weights_digest(denoiser)),
    ):
        if digest != told:
            raise CheckpointError(
                f"the {what} {entry.classifier if what == 'classifier' else source} has changed: digest {digest}, "
                f"expected {told}; restore it or train the denoiser again"
            )
    for fact in ("num_classes", "mean", "std"):
        if getattr(card, fact) != getattr(found, fact):
            raise CheckpointError(
                f"the card of {source} says {fact} {brief(getattr(card, fact))}, its classifier "
                f"{brief(getattr(found, fact))}; restore it"
            )
    try:
        with torch.device("meta"):  # shapes alone: images may be large
            refuse_shapes(_network(card, source), found.input_shape, card.input_shape)
    except SmoothcertError as error:
        raise CheckpointError(f"cannot build the network that the card of {source} names: {error}") from error
    return Denoised(denoiser, classifier)


def _refuse_count(card: ModelCard, entries: Mapping[str, Entry], source: str) -> None:
    """Refuse a number of heads or of layers that the weights do not have, which would take long to build."""
    if card.heads is not None:
        heads = {name.split(".")[1] for name in entries if name.startswith("heads.")}
        if len(heads) != card.heads:
            raise _misfit(card, source, f"{card.heads} heads in the card, {len(heads)} in the weights")
    if card.denoised is not None:
        depth = sum(len(shape) == 4 for _, shape in entries.values())
        if depth != card.denoised.depth:
            raise _misfit(card, source, f"depth {card.denoised.depth} in the card, {depth} in the weights")


def _said(entry: Entry) -> str:
    return f"{brief(entry[1])} of {str(entry[0]).removeprefix('torch.')}"


def _misfit(card: ModelCard, source: str, reason: str) -> CheckpointError:
    return CheckpointError(f"{source} does not fit architecture {card.architecture!r}: {reason}")
