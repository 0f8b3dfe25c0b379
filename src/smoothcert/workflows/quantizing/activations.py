"""What a float32 graph calculates between its layers on noisy images: ranges and means of every value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from smoothcert.networks import onnx_session

_ROWS, _VALUES = 32, 2**17  # of a pass, so that all values between its layers fit into memory
_OUTSIDE = 1e-4  # share of values beyond either end of the range "most"


@dataclass(frozen=True)
class Activation:
    """One value of a graph over all calibration images.

    Args:
        all: least and largest number seen.
        most: range that leaves out one number in ten thousand at either end, on average over passes.
        channel_means: mean by channel, the second axis; empty where there is none.
    """

    all: tuple[float, float]
    most: tuple[float, float]
    channel_means: NDArray[np.float64]


def measured(graph: Any, images: torch.Tensor) -> dict[str, Activation]:
    """Return what every float32 value of a graph is like on images, by name.

    Args:
        graph: an ONNX model in float32 with one input.
        images: noisy, (rows, *shape).
    """
    names, session = _exposed(graph)
    source = graph.graph.input[0].name
    rows = max(1, min(_ROWS, _VALUES // max(images[0].numel(), 1)))
    seen: dict[str, list[tuple[Any, ...]]] = {name: [] for name in (source, *names)}
    for part in torch.split(images, rows):
        values = session.run(names, {source: part.numpy()})
        for name, value in zip((source, *names), (part.numpy(), *values), strict=True):
            if value.dtype == np.float32 and value.size:
                seen[name].append(_summary(value))
    return {name: _merged(parts) for name, parts in seen.items() if parts}


def _exposed(graph: Any) -> tuple[list[str], Any]:
    """Return the names of all values between layers, and a session that answers with each of them."""
    import onnx

    model = onnx.ModelProto()
    model.CopyFrom(graph)
    known = {one.name for one in model.graph.output}
    names = list(dict.fromkeys(name for node in model.graph.node for name in node.output if name))
    model.graph.output.extend(
        onnx.helper.make_empty_tensor_value_info(name) for name in names if name not in known
    )
    return names, onnx_session(model.SerializeToString())


def _summary(value: NDArray[Any]) -> tuple[Any, ...]:
    low, high = np.quantile(value, [_OUTSIDE, 1 - _OUTSIDE])
    others = tuple(axis for axis in range(value.ndim) if axis != 1)
    means = value.mean(axis=others, dtype=np.float64) if value.ndim >= 2 else np.empty(0)
    return float(value.min()), float(value.max()), float(low), float(high), means, len(value)


def _merged(parts: list[tuple[Any, ...]]) -> Activation:
    least, largest, low, high, means, rows = zip(*parts, strict=True)
    share = np.asarray(rows, dtype=np.float64) / sum(rows)
    same = len({one.shape for one in means}) == 1
    return Activation(
        (min(least), max(largest)),
        (float(np.dot(share, low)), float(np.dot(share, high))),
        np.tensordot(share, np.stack(means), 1) if same else np.empty(0),
    )
