"""Biases that take back the mean error of rounded weights (Nagel et al. 2019, Data-Free Quantization)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.workflows.quantizing.activations import Activation

Array = NDArray[np.float64]


def with_corrected_biases(graph: Any, rounded: bytes, activations: Mapping[str, Activation]) -> Any:
    """Return a float32 graph whose biases make up for what rounding its weights does to each channel on average.

    Not a correction at borders of images, where padding is taken for the mean. Layers without a bias stay as they are.

    Args:
        graph: an ONNX model in float32.
        rounded: the same in int8, of which the weights are read.
        activations: what `measured` found of the float32 graph.
    """
    import onnx
    from onnx import numpy_helper

    corrected = onnx.ModelProto()
    corrected.CopyFrom(graph)
    weights = {one.name: one for one in corrected.graph.initializer}
    in_int8 = {one.name: one for one in onnx.load_model_from_string(rounded).graph.initializer}
    for node in corrected.graph.node:
        if node.op_type not in ("Conv", "Gemm") or len(node.input) < 3 or node.input[2] not in weights:
            continue
        name, bias = node.input[1], weights[node.input[2]]
        seen = activations.get(node.input[0])
        if name not in weights or f"{name}_quantized" not in in_int8 or seen is None:
            continue
        exact = numpy_helper.to_array(weights[name]).astype(np.float64)
        error = exact - _dequantized(in_int8, name, exact.shape)
        shift = _mean_output(node, error, seen.channel_means)
        if shift is not None and shift.size == np.prod(bias.dims):
            old = numpy_helper.to_array(bias)
            new = (old.astype(np.float64) + shift.reshape(old.shape)).astype(np.float32)
            bias.CopyFrom(numpy_helper.from_array(new, bias.name))
    return corrected


def _dequantized(tensors: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """Return what an int8 weight stands for; its scales go along the axis that has as many entries."""
    from onnx import numpy_helper

    whole = numpy_helper.to_array(tensors[f"{name}_quantized"]).astype(np.float64)
    scale = numpy_helper.to_array(tensors[f"{name}_scale"]).astype(np.float64)
    if scale.size == 1:
        return whole * scale.reshape(())
    axis = 0 if shape[0] == scale.size else 1
    return whole * scale.reshape([-1 if place == axis else 1 for place in range(len(shape))])


def _mean_output(node: Any, weights: Array, means: Array) -> Array | None:
    """Return what weights make of the mean input, by output channel; None where the shapes say otherwise."""
    settings = {one.name: one for one in node.attribute}
    if node.op_type == "Conv":
        groups = settings["group"].i if "group" in settings else 1
        inputs = weights.shape[1]
        if means.size != inputs * groups:
            return None
        by_channel = weights.reshape(groups, weights.shape[0] // groups, inputs, -1).sum(axis=3)
        mean: Array = np.einsum("goi,gi->go", by_channel, means.reshape(groups, inputs)).reshape(-1)
        return mean
    turned = weights if "transB" in settings and settings["transB"].i else weights.T
    plain = "transA" not in settings or not settings["transA"].i
    return turned @ means if plain and means.size == turned.shape[1] else None
