"""Networks of ONNX files in model folders: `model.onnx` beside the card, in place of weights."""

from __future__ import annotations

from pathlib import Path

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.networks import OnnxNetwork, onnx_of
from smoothcert.on_demand import nn


def onnx_network(card: ModelCard, path: Path) -> OnnxNetwork:
    """Return the network of a folder whose card names an ONNX file; refuse a file that is not the card's.

    Args:
        card: with `onnx`.
        path: of the file.
    """
    if len(card.class_names) != card.num_classes:
        raise CheckpointError(
            f"the card of {path} has {len(card.class_names)} class_names for {card.num_classes} classes; fix it"
        )
    try:
        graph = read_onnx(path, input_shape=card.input_shape, num_classes=card.num_classes)
        network = OnnxNetwork(graph, card.mean or None, card.std or None)
    except CheckpointError:
        raise
    except SmoothcertError as error:
        raise CheckpointError(f"{path} is not what its card says: {error}; restore it") from error
    for what, told, found in (
        ("file", card.onnx, graph.sha256),
        ("network", card.digest, network.digest()),
    ):
        if told != found:
            raise CheckpointError(
                f"the {what} {path} has digest {found}, but its card says {told!r}; one of the two was changed: "
                "restore it"
            )
    return network


def onnx_content(model: nn.Module, card: ModelCard) -> bytes:
    """Return what a folder's `model.onnx` is to hold; refuse a card that says something else of the network.

    Args:
        model: an `OnnxNetwork`.
        card: with `onnx` and the network's digest.
    """
    network = onnx_of(model)
    if network is None:
        raise CheckpointError(
            f"the card names an ONNX file, but the model to save is a {type(model).__name__}"
        )
    graph = network.graph
    again = OnnxNetwork(graph, card.mean or None, card.std or None)
    told = (card.onnx, tuple(card.input_shape), card.num_classes, len(card.class_names), card.digest)
    if told != (graph.sha256, graph.input_shape, graph.num_classes, graph.num_classes, again.digest()):
        raise CheckpointError(
            "the card says another file, shape, classes or normalisation than the model has; fix it"
        )
    return graph.content
