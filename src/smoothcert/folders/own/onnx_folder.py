"""Networks of ONNX files in model folders: `model.onnx` beside the card, in place of weights."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from smoothcert.errors import CheckpointError, SmoothcertError
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.folders.own.probe_file import PROBE_FILE, probe_content, read_probe
from smoothcert.networks import OnnxGraph, OnnxNetwork, QuantizedNetwork, onnx_of, quantized_parts
from smoothcert.on_demand import nn


def onnx_network(card: ModelCard, path: Path, original: Callable[[], nn.Module] | None = None) -> OnnxNetwork:
    """Return the network of a folder whose card names an ONNX file; refuse a file that is not the card's.

    Args:
        card: with `onnx`.
        path: of the file.
        original: returns the float32 network that a quantised one was made from.
    """
    if len(card.class_names) != card.num_classes:
        raise CheckpointError(
            f"the card of {path} has {len(card.class_names)} class_names for {card.num_classes} classes; fix it"
        )
    try:
        graph = read_onnx(path, input_shape=card.input_shape, num_classes=card.num_classes)
        network = _network(card, graph, path, original)
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


def _network(
    card: ModelCard, graph: OnnxGraph, path: Path, original: Callable[[], nn.Module] | None
) -> OnnxNetwork:
    entry = card.quantized
    if entry is None:
        return OnnxNetwork(graph, card.mean or None, card.std or None)
    probe = read_probe(card, path.with_name(PROBE_FILE))
    return QuantizedNetwork(graph, entry.precision, probe, runtime=entry.runtime, original=original)


def folder_files(model: nn.Module, card: ModelCard, name: str) -> dict[str, bytes]:
    """Return what a folder of an ONNX file holds beside its card, by file name.

    Args:
        model: an `OnnxNetwork`.
        card: with `onnx` and the network's digest.
        name: of the ONNX file.
    """
    files = {name: onnx_content(model, card)}
    network = next(quantized_parts(model), None)
    if network is not None and card.quantized is not None:
        files[PROBE_FILE] = probe_content(network.probe)
    return files


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
    again = network if card.quantized else OnnxNetwork(graph, card.mean or None, card.std or None)
    told = (card.onnx, tuple(card.input_shape), card.num_classes, len(card.class_names), card.digest)
    if told != (graph.sha256, graph.input_shape, graph.num_classes, graph.num_classes, again.digest()):
        raise CheckpointError(
            "the card says another file, shape, classes or normalisation than the model has; fix it"
        )
    return graph.content
