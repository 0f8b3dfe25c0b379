"""OpenVINO: a graph compiled for a few fixed numbers of rows, each pass executed by the calling thread alone."""

from __future__ import annotations

import sys
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from smoothcert.errors import CheckpointError
from smoothcert.networks.onnx_files.session import runtime_reason
from smoothcert.networks.padding import padded

_ONE_THREAD = {
    "NUM_STREAMS": "1",
    "INFERENCE_NUM_THREADS": 1,
    "ENABLE_CPU_PINNING": False,  # else all workers might be bound to the same core
}
_NAMES = {"float32": "f32", "bfloat16": "bf16"}  # its own
_PRECISIONS = {
    "float32": {"INFERENCE_PRECISION_HINT": "f32", "EXECUTION_MODE_HINT": "ACCURACY"},
    "bfloat16": {"INFERENCE_PRECISION_HINT": "bf16"},
}
"""Said outright: left to itself, OpenVINO takes bfloat16 where the processor can, which is another classifier."""


class OpenvinoGraph:
    """A graph that any threads may ask about any number of rows.

    Not a comparison with the model, which the engine makes; `CheckpointError` says why a graph cannot be run. A
    compiled graph answers one thread at a time, so there are as many of them as were ever asked at the same time, each
    with weights of its own.

    Args:
        content: an ONNX graph with one input and all weights in it; nothing is done here about values that are no
            numbers, of which OpenVINO makes some.
        output: name of its answer; None for the only one.
        image_shape: of one image.
        sizes: numbers of rows that passes may have, the largest first. Dynamic ones would be slow.
        precision: of what the graph itself leaves in float32: "float32" or "bfloat16".
    """

    def __init__(
        self,
        content: bytes,
        output: str | None,
        image_shape: Sequence[int],
        sizes: Sequence[int],
        precision: str = "float32",
    ) -> None:
        self._openvino, self._precision = imported_openvino(), precision
        self._shape, self._sizes = tuple(image_shape), tuple(sizes)
        self._compiling = threading.Lock()
        self._idle: dict[int, deque[Any]] = {size: deque() for size in sizes}
        try:
            self._core = self._openvino.Core()
            self._graph = self._core.read_model(content)
        except Exception as error:  # kinds of its own
            raise CheckpointError(f"OpenVINO does not take it ({runtime_reason(error)})") from error
        if output is None:
            if len(self._graph.outputs) != 1:
                raise CheckpointError(
                    f"it answers with {len(self._graph.outputs)} arrays, and the graph of one is run here"
                )
            output = self._graph.output(0).get_any_name()
        self._output = output
        self._refuse_other_floats()
        for size in sizes:  # at once, so that whatever is missing shows here and not in a worker
            self._idle[size].append(self._compiled(size))

    def run(self, images: torch.Tensor) -> torch.Tensor:
        """Return the graph's answers, (rows, ..), of which nothing is shared with later ones.

        Args:
            images: float32 on the CPU, (rows, *image_shape).
        """
        answers = [
            self._pass(images[first : first + size], size) for first, size in self._passes(len(images))
        ]
        return answers[0] if len(answers) == 1 else torch.cat(answers)

    def _passes(self, rows: int) -> Iterator[tuple[int, int]]:
        """Yield first rows and sizes of passes: each as large as fits, the last one to be filled up."""
        first = 0
        for size in self._sizes:
            while rows - first >= size:
                yield first, size
                first += size
        if first < rows:
            yield first, self._sizes[-1]

    def _pass(self, images: torch.Tensor, size: int) -> torch.Tensor:
        idle = self._idle[size]
        try:
            compiled = idle.pop()
        except IndexError:  # all of them are being asked by other threads
            compiled = self._compiled(size)
        # Input and answer are copied, so that the next pass may write over them.
        answer = compiled(padded(images, size).numpy())[self._output]
        idle.append(compiled)
        return torch.from_numpy(answer)[: len(images)]

    def _compiled(self, size: int) -> Any:
        """Return something to call with a batch of this size, for one thread at a time."""
        try:
            with self._compiling:
                graph = self._graph.clone()
                graph.reshape([size, *self._shape])
                compiled = self._core.compile_model(
                    graph, "CPU", {**_ONE_THREAD, **_PRECISIONS[self._precision]}
                )
                rows = compiled.output(self._output).shape[0]
        except Exception as error:  # kinds of its own
            raise CheckpointError(f"OpenVINO does not take it ({runtime_reason(error)})") from error
        if rows != size:
            raise CheckpointError(f"OpenVINO would answer {size} images with {rows} rows")
        taken = compiled.get_property("INFERENCE_PRECISION_HINT").to_string()
        if taken != _NAMES[self._precision]:
            raise CheckpointError(f"OpenVINO would calculate in {taken} here instead of {self._precision}")
        request = compiled.create_infer_request()
        return lambda images: request.infer([images])

    def _refuse_other_floats(self) -> None:
        kinds = {output.get_element_type() for node in self._graph.get_ops() for output in node.outputs()}
        other = sorted(kind.get_type_name() for kind in kinds if kind.is_real() and kind.bitwidth != 32)
        if other:
            raise CheckpointError(f"it calculates in {other[0]}, and OpenVINO in {self._precision} here")


def imported_openvino() -> Any:
    """Return the module `openvino`; raise `CheckpointError` with what to install where there is none.

    It is imported without its telemetry, which would report every import to a server and write to the home folder.
    """
    telemetry = "openvino_telemetry"
    hide = telemetry not in sys.modules
    if hide:
        sys.modules[telemetry] = None  # type: ignore[assignment]  # says that it cannot be imported
    try:
        import openvino
    except ImportError as error:
        raise CheckpointError("OpenVINO is not installed (pip install smoothcert[openvino])") from error
    finally:
        if hide:
            sys.modules.pop(telemetry, None)
    return openvino
