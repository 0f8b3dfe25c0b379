"""The float32 graph that a network is quantised from: exported, or its own ONNX file, ready for the quantiser."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from smoothcert.engines import EngineUnavailableError, exported, module_on_cpu
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import OnnxNetwork, holds_onnx, onnx_of, quantized_parts

WEIGHTED = ("Conv", "Gemm", "MatMul")
"""Operators whose weights are quantised."""
_NEVER = frozenset(
    (
        *("If", "Loop", "Scan", "SequenceMap"),
        *(
            "RandomNormal",
            "RandomNormalLike",
            "RandomUniform",
            "RandomUniformLike",
            "Bernoulli",
            "Multinomial",
        ),
        *("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"),
    )
)
"""Operators that choose a way by their numbers, draw some, or are quantised already."""


def float_graph(model: nn.Module, example: torch.Tensor, name: str) -> Any:
    """Return a model as an ONNX model that takes pixels; `InvalidArgumentError` names what cannot be quantised.

    Args:
        model: in eval mode on the CPU.
        example: one image of the shape it takes.
        name: of the model, for messages.
    """
    import onnx

    if any(True for _ in quantized_parts(model)):
        raise InvalidArgumentError(
            f"{name} is quantised already; quantise the float32 network that it was made from"
        )
    file = onnx_of(model)
    if file is None and holds_onnx(model):
        raise InvalidArgumentError(
            f"{name} has an ONNX file among its parts, which cannot be exported with them; quantise that by itself"
        )
    if file is not None:
        graph = _normalised(onnx.load_model_from_string(file.graph.content), file)
    else:
        try:
            graph = onnx.load_model_from_string(exported(module_on_cpu(model), example, keep_nan=False))
        except EngineUnavailableError as error:
            raise InvalidArgumentError(f"{name} cannot be quantised: {error}") from error
    _refuse_operators(graph, name)
    return _prepared(graph, name)


def _normalised(graph: Any, file: OnnxNetwork) -> Any:
    """Return the graph of an ONNX file with the normalisation that stands before it inside."""
    from onnx import helper, numpy_helper

    if file.normalize is None:
        return graph
    inside, outside = "smoothcert_normalised", graph.graph.input[0].name
    for node in graph.graph.node:
        for place, one in enumerate(node.input):
            node.input[place] = inside if one == outside else one
    numbers = {"mean": file.normalize.mean, "std": file.normalize.std}
    for what, values in numbers.items():
        array = values.detach().cpu().numpy().astype(np.float32)
        graph.graph.initializer.append(numpy_helper.from_array(array, f"smoothcert_{what}"))
    steps = [
        helper.make_node("Sub", [outside, "smoothcert_mean"], ["smoothcert_centred"]),
        helper.make_node("Div", ["smoothcert_centred", "smoothcert_std"], [inside]),
    ]
    for place, node in enumerate(steps):
        graph.graph.node.insert(place, node)
    return graph


def _refuse_operators(graph: Any, name: str) -> None:
    kinds = [node.op_type for node in graph.graph.node]
    never = sorted(_NEVER.intersection(kinds))
    if never:
        raise InvalidArgumentError(
            f"{name} cannot be quantised: its operator {never[0]} has no form in fewer bits that is a fixed function "
            "of the image; take it out of the network"
        )
    if not set(WEIGHTED).intersection(kinds):
        raise InvalidArgumentError(
            f"{name} cannot be quantised: it has no {_or(WEIGHTED)}, only {', '.join(sorted(set(kinds)))}"
        )


def _prepared(graph: Any, name: str) -> Any:
    """Return the graph simplified and with all shapes known, every node with a name."""
    import onnx
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory(prefix="smoothcert-") as folder:
        # By files: given a model in memory, it loses the weights on its way.
        source, path = Path(folder) / "source.onnx", Path(folder) / "prepared.onnx"
        source.write_bytes(graph.SerializeToString())
        try:
            quant_pre_process(source, path, skip_symbolic_shape=True)
        except Exception as error:  # kinds of its own
            raise InvalidArgumentError(
                f"{name} cannot be quantised: ONNX Runtime does not simplify its graph ({error})"
            ) from error
        prepared = onnx.load(path)
    for place, node in enumerate(prepared.graph.node):
        node.name = node.name or f"{node.op_type}_{place}"
    return prepared


def _or(names: Sequence[str]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
