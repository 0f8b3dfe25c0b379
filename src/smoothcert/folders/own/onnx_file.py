"""From an ONNX file to the graph of a classifier: its one input, its scores, and how many rows a pass takes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.own.onnx_content import Content, check_content
from smoothcert.networks import MIN_ROWS, OnnxGraph, checked_shape, onnx_session, runtime_reason
from smoothcert.reading import read_bytes
from smoothcert.visible import brief

MOST_ONNX_BYTES = 2**31 - 1
"""What the format itself can hold in one file."""
_MOST_VALUES = 2**28  # of a batch of a fixed number of rows: 1 GiB
_LOGITS = "logits"
_OTHER_INPUTS = {
    "tensor(uint8)": "noisy pixels are no whole numbers, and rounding them would change the noise",
    "tensor(float16)": "noisy images would be rounded to 16 bits before the network sees them",
}


def read_onnx(
    path: Path, *, input_shape: Sequence[int] | None = None, num_classes: int | None = None
) -> OnnxGraph:
    """Read an ONNX file as a classifier; `CheckpointError` or `InvalidArgumentError` says what is wrong with it.

    Not a look at whether it is a good one, nor whether it takes pixels or normalised images: no file says that.

    Args:
        path: the file, with all its weights in it.
        input_shape: shape of one image, where the file leaves it open.
        num_classes: number of classes, which must be the file's.
    """
    content = read_bytes(path, CheckpointError, most=MOST_ONNX_BYTES)
    try:
        return read_graph(content, path, input_shape=input_shape, num_classes=num_classes)
    except UnicodeError as error:
        raise CheckpointError(f"{path} is damaged: it has names that are no text; export it again") from error


def read_graph(
    content: bytes,
    path: Path = Path("the ONNX file"),
    *,
    input_shape: Sequence[int] | None = None,
    num_classes: int | None = None,
) -> OnnxGraph:
    """Return the graph of an ONNX file that has been read, checked as `read_onnx` says.

    Args:
        content: of the file.
        path: names it in messages.
        input_shape: as for `read_onnx`.
        num_classes: as for `read_onnx`.
    """
    about = check_content(content, str(path))
    try:
        session = onnx_session(content)
    except CheckpointError as error:
        raise CheckpointError(f"{path}: {error}{_newer(about)}") from error
    name, shape, rows = _input(session, path, input_shape)
    output, classes = _scores(session, path, name, (rows or MIN_ROWS, *shape), num_classes)
    return OnnxGraph(content, name, output, shape, classes, rows, about.parameters)


def _newer(about: Content) -> str:
    """Say that a file is of a newer ONNX, where that is the likely reason of a refusal."""
    import onnx

    known = onnx.defs.onnx_opset_version()
    if about.opset is None or about.opset <= known:
        return ""
    return f"; it is of opset {about.opset}, newer than the {known} known here: export it with opset_version={known}"


def _input(session: Any, path: Path, told: Sequence[int] | None) -> tuple[str, tuple[int, ...], int | None]:
    """Return the name of the one input, the shape of an image, and the rows of a pass where they are fixed."""
    inputs = session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(brief(one.name, 40) for one in inputs[:8])
        raise CheckpointError(
            f"{path} has {len(inputs)} inputs ({names}); a classifier takes one, the images"
        )
    one = inputs[0]
    if one.type != "tensor(float)":
        why = _OTHER_INPUTS.get(one.type, "noisy images are float32")
        raise CheckpointError(
            f"{path} takes {one.type.removeprefix('tensor(').rstrip(')')} input ({why}); export it with float32 input"
        )
    sides = [side if isinstance(side, int) and side > 0 else None for side in one.shape]
    if len(sides) < 2 and told is None:
        raise CheckpointError(f"{path} does not say the shape of its images; say it with input_shape")
    open_sides = [None] * (1 + len(told or ())) if len(sides) < 2 else sides
    shape = _image_shape(path, open_sides[1:], told)
    rows = open_sides[0]
    if rows is not None and rows * math.prod(shape) > _MOST_VALUES:
        raise CheckpointError(
            f"{path} takes batches of exactly {rows:,} images, more than fit; export it with any number of rows"
        )
    return str(one.name), shape, rows


def _image_shape(path: Path, sides: Sequence[int | None], told: Sequence[int] | None) -> tuple[int, ...]:
    if told is None:
        if None in sides:
            raise InvalidArgumentError(
                f"{path} takes images of shape {_said(sides)}, where ? is left open; say it with input_shape, such as "
                "3,32,32"
            )
        return checked_shape(tuple(side for side in sides if side is not None))
    shape = checked_shape(tuple(told))
    if len(shape) != len(sides) or any(
        side not in (None, own) for side, own in zip(sides, shape, strict=True)
    ):
        raise InvalidArgumentError(f"input_shape is {shape}, but {path} takes images of shape {_said(sides)}")
    return shape


def _scores(
    session: Any, path: Path, name: str, shape: tuple[int, ...], num_classes: int | None
) -> tuple[str, int]:
    """Return the name of the output that holds one row of scores per image, and how many: found by running it.

    Every output that might be the scores counts, and neither its form nor a number of classes chooses one: features
    would be certified for classes.
    """
    outputs = [one.name for one in session.get_outputs()]
    try:
        answers = session.run(outputs, {name: np.zeros(shape, np.float32)})
    except Exception as error:  # kinds of its own
        raise CheckpointError(
            f"{path} cannot be run on {shape[0]} images of shape {shape[1:]}: {runtime_reason(error)}; is that the "
            "shape of its images, and was it exported for any number of rows?"
        ) from error
    found = {
        one: answer for one, answer in zip(outputs, answers, strict=True) if _may_be_scores(answer, shape[0])
    }
    if len(found) > 1 and _LOGITS in found:
        found = {_LOGITS: found[_LOGITS]}
    if len(found) != 1:
        told = ", ".join(
            f"{brief(one, 40)} {_answered(answer)}" for one, answer in zip(outputs[:8], answers, strict=False)
        )
        raise CheckpointError(
            f"{path} has {len(found) or 'no'} outputs with something for every image, where "
            f"one is needed, or one called {_LOGITS!r}: {told}; export the logits alone"
        )
    ((output, answer),) = found.items()
    if not _are_scores(answer):
        raise CheckpointError(
            f"the output {brief(output, 40)} of {path} is {_answered(answer)}, which is no row of float scores for "
            "every image, one per class; export the logits (of scikit-learn: zipmap=False)"
        )
    classes = int(answer.shape[1])
    if num_classes is not None and classes != num_classes:
        raise InvalidArgumentError(f"num_classes is {num_classes}, but {path} answers with {classes} scores")
    return output, classes


def _may_be_scores(answer: Any, rows: int) -> bool:
    """Say whether an output might hold the scores, in a form that is read here or not; labels and texts do not."""
    if not isinstance(answer, np.ndarray):
        return isinstance(answer, Sequence) and len(answer) == rows  # tables of classes, as scikit-learn's
    numeric = answer.dtype.kind == "f" or (answer.dtype.kind in "biuc" and answer.ndim >= 2)
    return bool(numeric and answer.ndim >= 1 and answer.shape[0] == rows)


def _are_scores(answer: Any) -> bool:
    if not isinstance(answer, np.ndarray) or answer.dtype.kind != "f" or answer.ndim != 2:
        return False
    return bool(answer.shape[1] >= 2)


def _answered(answer: Any) -> str:
    if not isinstance(answer, np.ndarray):
        return f"({type(answer).__name__})"
    whole: NDArray[Any] = answer
    return f"({whole.dtype} {whole.shape})"


def _said(sides: Sequence[int | None]) -> str:
    return f"({', '.join('?' if side is None else str(side) for side in sides)})"
