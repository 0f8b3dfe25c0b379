"""What an ONNX file may hold: weights of its own, operators that everybody has; refused by name otherwise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from smoothcert.errors import CheckpointError
from smoothcert.visible import brief

_STANDARD = ("", "ai.onnx", "ai.onnx.ml", "com.microsoft")
"""Domains of operators that ONNX Runtime itself has: ONNX's own, its classical models, and quantised layers."""


@dataclass(frozen=True)
class Content:
    """What an ONNX file says of itself.

    Args:
        opset: version of ONNX's own operators that it asks for; None if it asks for none.
        parameters: numbers in its weights.
    """

    opset: int | None
    parameters: int


def check_content(content: bytes, source: str) -> Content:
    """Refuse what is no ONNX file, keeps weights elsewhere, or needs operators that come with no ONNX Runtime.

    Reads the file as data: nothing in it is run.

    Args:
        content: of the file.
        source: names it in messages.
    """
    import onnx
    from google.protobuf.message import DecodeError  # type: ignore[import-untyped]

    try:
        model = onnx.load_model_from_string(content)
    except DecodeError as error:
        raise CheckpointError(
            f"{source} is no ONNX file, or is cut short ({brief(str(error), 80)}); export it again"
        ) from error
    if not model.graph.node or not model.opset_import:
        raise CheckpointError(
            f"{source} is no whole ONNX file: it lacks its graph or its opset; export it again"
        )
    _refuse_other_files(model, source)
    _refuse_other_operators(model, source)
    opset = next((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), None)
    return Content(opset, sum(math.prod(tensor.dims) for tensor in model.graph.initializer))


def _refuse_other_files(model: Any, source: str) -> None:
    import onnx

    for tensor in _messages(model, onnx.TensorProto):
        if tensor.data_location == onnx.TensorProto.EXTERNAL or tensor.external_data:
            place = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
            raise CheckpointError(
                f"{source} keeps the weights {brief(tensor.name, 60)} in another file, {brief(place, 80)}, which its "
                "digest would not cover; write one file: onnx.save(onnx.load(path), new, save_as_external_data=False)"
            )


def _refuse_other_operators(model: Any, source: str) -> None:
    import onnx

    own = {(function.domain, function.name) for function in model.functions}
    for node in _messages(model, onnx.NodeProto):
        if node.domain not in _STANDARD and (node.domain, node.op_type) not in own:
            raise CheckpointError(
                f"{source} needs the operator {brief(node.op_type, 60)} of the domain {brief(node.domain, 60)}, which "
                "is code that no ONNX file holds; export it with ONNX's own operators"
            )


def _messages(message: Any, kind: type) -> Iterator[Any]:
    """Yield all parts of one kind, at any depth: also those in branches, loops, functions and attributes."""
    waiting = [message]
    while waiting:
        part = waiting.pop()
        if isinstance(part, kind):
            yield part
        for field, value in part.ListFields():
            if field.message_type is not None:
                waiting += [value] if hasattr(value, "ListFields") else list(value)
