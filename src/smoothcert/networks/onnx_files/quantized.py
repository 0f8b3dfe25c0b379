"""Networks below float32: the graph of an ONNX file together with what it answered where it was made."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.composite import digest_of_parts
from smoothcert.networks.onnx_files.graph import OnnxGraph
from smoothcert.networks.onnx_files.network import OnnxNetwork
from smoothcert.networks.onnx_files.openvino_graph import OpenvinoGraph
from smoothcert.networks.padding import MIN_ROWS

INT8, BFLOAT16 = "int8", "bfloat16"
PRECISIONS = (INT8, BFLOAT16)
"""What a network can be quantised to."""


@dataclass(frozen=True)
class Probe:
    """Noisy images and what a quantised network answered to them, by every engine that could run it there.

    Not a test of accuracy: where integers are multiplied otherwise, by a processor that saturates or by another release
    of a runtime, the file is another classifier, and it shows here.

    Args:
        images: float32, (rows, *image shape).
        answers: logits by the name of an engine, (rows, classes) each.
    """

    images: torch.Tensor
    answers: Mapping[str, torch.Tensor] = field(default_factory=dict)


class QuantizedNetwork(OnnxNetwork):
    """A network in int8 or bfloat16: a classifier of its own, neither the float32 one it was made from nor a stand-in.

    Not the same in every runtime: engines round between layers at other places, so that each answers as itself, by its
    name in certificates, and is held to what it answered where the file was made (`probe`). Called as a function, int8
    is run by ONNX Runtime and bfloat16 by OpenVINO.

    Args:
        graph: what was read from the file, which takes pixels.
        precision: "int8", which the file's own nodes say, or "bfloat16", in which its float32 is to be calculated.
        probe: what the file answered where it was made.
        runtime: the engine that runs it unless another is named.
        original: returns the float32 network that it was made from; None where nobody knows it.
    """

    def __init__(
        self,
        graph: OnnxGraph,
        precision: str,
        probe: Probe,
        *,
        runtime: str,
        original: Callable[[], nn.Module] | None = None,
    ) -> None:
        super().__init__(graph)
        self.precision = precision
        # Together and private: none of it is part of the network's identity.
        self._made = _Made(probe, runtime, original)

    @property
    def probe(self) -> Probe:
        """What the file answered where it was made."""
        return self._made.probe

    @property
    def runtime(self) -> str:
        """The engine that runs it unless another is named."""
        return self._made.runtime

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the network's logits, (rows, classes)."""
        if self.precision == INT8:
            return super().forward(batch)
        if self._made.compiled is None:
            self._made.compiled = self.openvino_graph((8 * MIN_ROWS, MIN_ROWS))
        return self._made.compiled.run(batch.detach().cpu().contiguous())

    def openvino_graph(self, sizes: tuple[int, ...]) -> OpenvinoGraph:
        """Return the graph as OpenVINO runs it, in this network's precision.

        Args:
            sizes: numbers of rows that passes may have, the largest first.
        """
        graph, precision = self.graph, "float32" if self.precision == INT8 else self.precision
        sizes = sizes if graph.rows is None else (graph.rows,)
        return OpenvinoGraph(graph.content, graph.output_name, graph.input_shape, sizes, precision)

    def digest(self) -> str:
        """Return that of the file and the precision in which it is calculated."""
        return digest_of_parts([self.precision, self.graph.sha256])

    def surrogate(self) -> nn.Module:
        """Return the float32 network that it was made from, whose gradient an attack can follow."""
        original = self._made.original
        if original is None:
            raise InvalidArgumentError(
                f"a network in {self.precision} has no gradients, which an attack follows, and the one it was made "
                "from is not known; load it from its folder, which says where that is"
            )
        return original()

    def extra_repr(self) -> str:
        """Name the file's digest and the precision where torch prints the module; they stand for the network."""
        return f"{super().extra_repr()}, precision={self.precision!r}"


@dataclass
class _Made:
    """What is known about the making of a quantised network, and its graph in bfloat16 once that was asked for."""

    probe: Probe
    runtime: str
    original: Callable[[], nn.Module] | None
    compiled: OpenvinoGraph | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the compiled graph, which belongs to its process."""
        return {**vars(self), "compiled": None}


def quantized_parts(model: Any) -> Iterator[QuantizedNetwork]:
    """Yield the parts of a model, at any depth, that are calculated below float32."""
    if isinstance(model, nn.Module):
        yield from (part for part in model.modules() if isinstance(part, QuantizedNetwork))


def precision_of(model: Any) -> str | None:
    """Return in what a model is calculated, as its parts say: "int8", "bfloat16", or several joined by "+".

    None for one without quantised parts, of which nothing is said.
    """
    known = {part.precision for part in quantized_parts(model)}
    if known and (any(True for _ in model.parameters()) or any(map(_in_float32, model.modules()))):
        known.add("float32")
    return "+".join(sorted(known)) or None


def _in_float32(part: nn.Module) -> bool:
    return isinstance(part, OnnxNetwork) and not isinstance(part, QuantizedNetwork)
