"""Nodes of an ONNX graph that keep what is no number, for a runtime of which some do not."""

from __future__ import annotations

from typing import Any

from smoothcert.engines.unavailable import EngineUnavailableError

KEEPING = frozenset(
    (
        *("Add", "AveragePool", "BatchNormalization", "Concat", "Constant", "Conv", "Div", "Elu", "Flatten"),
        *("Gather", "Gemm", "GlobalAveragePool", "Identity", "MatMul", "Mul", "ReduceMean"),
        *("ReduceSum", "Relu", "Reshape", "Sigmoid", "Softplus", "Squeeze", "Sub", "Tanh", "Transpose"),
        *("Unsqueeze",),
    )
)
"""Kinds of nodes that make NaN of NaN, and nothing finite of what is infinite unless ONNX says so; ReLU once exchanged.

Not those of which OpenVINO makes a number: Clip and MaxPool (the limit, or another value), Softmax (of infinities); nor
Gelu, which makes NaN of infinity.
"""


def with_nan_keeping_nodes(content: bytes, pools: bool) -> bytes:
    """Return a graph in which each ReLU is the larger of 0 and its input: the same numbers, and NaN where that is none.

    OpenVINO's ReLU makes 0 of what is no number, and an answer that is none would count as a vote; its Max returns the
    second input where that is NaN. Raises `EngineUnavailableError` for a node of which it is not known whether it
    hides such values: comparing answers would find it only where the first of many paths through a network hides them.

    Args:
        content: as an ONNX file has it, all weights in it.
        pools: whether max pools are sure to have something beside them that keeps NaN.
    """
    import numpy as np
    import onnx

    model = onnx.load_model_from_string(content)
    graph = model.graph
    zero = _free_name(graph, "smoothcert_zero")
    nodes = [_exchanged(node, zero, pools) for node in graph.node]
    del graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.append(onnx.numpy_helper.from_array(np.zeros((), dtype=np.float32), zero))
    exchanged: bytes = model.SerializeToString()
    return exchanged


def _exchanged(node: Any, zero: str, pools: bool) -> Any:
    """Return the node that takes a node's place, or itself if it keeps NaN."""
    from onnx import helper

    known = node.op_type in KEEPING or (node.op_type == "MaxPool" and pools)
    if node.domain not in ("", "ai.onnx") or not known:
        raise EngineUnavailableError(f"its {node.op_type} may hide what is no number")
    if node.op_type == "Relu":
        return helper.make_node("Max", [zero, node.input[0]], node.output)
    return node


def _free_name(graph: Any, wanted: str) -> str:
    """Return a name that no value of a graph has."""
    taken = {name for node in graph.node for name in (*node.input, *node.output)}
    taken |= {one.name for one in (*graph.initializer, *graph.input)}
    while wanted in taken:
        wanted += "_"
    return wanted
