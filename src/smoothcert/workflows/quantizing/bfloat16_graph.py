"""A float32 graph with weights that bfloat16 can hold, to be calculated in it by a runtime that does."""

from __future__ import annotations

from typing import Any

import torch


def bfloat16_graph(graph: Any) -> bytes:
    """Return the graph, its weights rounded to bfloat16, as the content of an ONNX file.

    They are still written as float32: runtimes that take bfloat16 files are few, and none would gain. Rounding them
    here means that what is calculated depends on the file alone, and not on how a runtime rounds.

    Args:
        graph: an ONNX model in float32.
    """
    import onnx
    from onnx import numpy_helper

    model = onnx.ModelProto()
    model.CopyFrom(graph)
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            values = torch.from_numpy(numpy_helper.to_array(tensor).copy())
            tensor.CopyFrom(numpy_helper.from_array(values.bfloat16().float().numpy(), tensor.name))
    content: bytes = model.SerializeToString()
    return content
