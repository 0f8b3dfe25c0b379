"""A float32 graph as one with int8 weights per channel and uint8 activations (QDQ), by ONNX Runtime's quantiser."""

from __future__ import annotations

import contextlib
import io
import logging
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import InvalidArgumentError
from smoothcert.workflows.quantizing.activations import Activation
from smoothcert.workflows.quantizing.float_graph import WEIGHTED

_QUANTISED = (
    *WEIGHTED,
    *("Add", "AveragePool", "Clip", "Concat", "Flatten", "GlobalAveragePool", "MaxPool", "Relu", "Reshape"),
    *("Squeeze", "Transpose", "Unsqueeze"),
)
"""Operators that take and give 8-bit numbers where their neighbours do; all others stay in float32."""


def int8_graph(
    graph: Any,
    activations: Mapping[str, Activation],
    *,
    ranges: str,
    float_layers: Sequence[str] = (),
    seven_bits: bool = False,
) -> bytes:
    """Return a graph in int8 as the content of an ONNX file; its logits stay in float32, so that none tie.

    Args:
        graph: an ONNX model in float32, prepared by `float_graph`.
        activations: what `measured` found on calibration images.
        ranges: "all" or "most" of the values seen are told apart; what is beyond is cut.
        float_layers: "first" and "last", where these stay in float32.
        seven_bits: whether weights take half the range of int8.
    """
    import onnx
    from onnxruntime.quantization import CalibrationMethod, QuantFormat, QuantType, quantize_static

    spans = {name: one.all if ranges == "all" else one.most for name, one in activations.items()}
    weighted = [node.name for node in graph.graph.node if node.op_type in WEIGHTED]
    kept = [weighted[0 if which == "first" else -1] for which in float_layers]
    source = graph.graph.input[0]
    with tempfile.TemporaryDirectory(prefix="smoothcert-") as folder, _quiet():
        given, path = Path(folder) / "float32.onnx", Path(folder) / "int8.onnx"
        given.write_bytes(graph.SerializeToString())
        try:
            quantize_static(
                given,
                path,
                _Reader(source.name, _rows_of_zeros(source)),
                quant_format=QuantFormat.QDQ,
                op_types_to_quantize=list(_QUANTISED),
                per_channel=True,
                reduce_range=seven_bits,
                activation_type=QuantType.QUInt8,
                weight_type=QuantType.QInt8,
                nodes_to_exclude=kept,
                calibrate_method=CalibrationMethod.MinMax,
                extra_options={"TensorQuantOverrides": _overrides(graph, spans)},
            )
        except Exception as error:  # kinds of its own
            raise InvalidArgumentError(
                f"ONNX Runtime's quantiser does not take the network: {type(error).__name__}: {error}"
            ) from error
        model = onnx.load(path)
    _leave_logits(model)
    content: bytes = model.SerializeToString()
    return content


class _Reader:
    """Hands the quantiser one batch: it insists on measuring ranges, which are given to it."""

    def __init__(self, name: str, batch: NDArray[np.float32]) -> None:
        self._batches = iter([{name: batch}])

    def get_next(self) -> dict[str, NDArray[np.float32]] | None:
        """Return the batch, then None."""
        return next(self._batches, None)


def _rows_of_zeros(source: Any) -> NDArray[np.float32]:
    sides = [side.dim_value for side in source.type.tensor_type.shape.dim]
    return np.zeros([side or 2 for side in sides], dtype=np.float32)


def _overrides(graph: Any, spans: Mapping[str, tuple[float, float]]) -> dict[str, list[dict[str, Any]]]:
    """Return the range of every value as the quantiser takes it; zero, which padding has, is always inside."""
    weights = {one.name for one in graph.graph.initializer}
    return {
        name: [{"rmin": np.float32(min(low, 0.0)), "rmax": np.float32(max(high, 0.0))}]
        for name, (low, high) in spans.items()
        if name not in weights
    }


def _leave_logits(model: Any) -> None:
    """Take the last rounding off: 256 different logits would tie now and then, and a tie is no vote."""
    graph = model.graph
    answer = graph.output[0].name
    makers = {name: node for node in graph.node for name in node.output}
    last = makers[answer]
    if last.op_type != "DequantizeLinear" or last.input[0] not in makers:
        return
    rounding = makers[last.input[0]]
    raw = rounding.input[0]
    readers = [node for node in graph.node if raw in node.input]
    if len(readers) != 1 or raw not in makers:
        return
    graph.node.remove(last)
    graph.node.remove(rounding)
    made = makers[raw]
    made.output[list(made.output).index(raw)] = answer


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Keep the quantiser's advice to itself."""
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.ERROR)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        root.setLevel(level)
