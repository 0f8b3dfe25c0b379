"""Ways to bring a network to int8, measured on noisy hold-out images; the best is taken."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

import torch

from smoothcert.folders import Candidate
from smoothcert.networks import INT8, OnnxGraph, Probe, QuantizedNetwork
from smoothcert.workflows.quantizing.activations import measured
from smoothcert.workflows.quantizing.bias_correction import with_corrected_biases
from smoothcert.workflows.quantizing.float_graph import WEIGHTED
from smoothcert.workflows.quantizing.holdout_figures import HoldoutFigures
from smoothcert.workflows.quantizing.int8_graph import int8_graph

LEAST_GAIN, LEAST_ANSWERS = 0.002, 4
"""Share of answers, and number of them, that must come right for a layer to stay in float32, which costs speed."""
WAYS = 7
"""How many are measured, at most."""
ReadGraph = Callable[[bytes], OnnxGraph]


class Choices:
    """Ways to bring one float32 graph to int8.

    Args:
        graph: an ONNX model in float32.
        figures: what measures a network.
        read: from the content of an ONNX file to its graph.
        seven_bits: whether weights take half the range of int8.
        on_measured: told how many ways have been measured.
    """

    def __init__(
        self,
        graph: Any,
        figures: HoldoutFigures,
        read: ReadGraph,
        *,
        seven_bits: bool,
        on_measured: Callable[[int], None],
    ) -> None:
        self._graph, self._figures, self._read, self._seven_bits = graph, figures, read, seven_bits
        self._on_measured = on_measured
        self._activations = measured(graph, figures.noisy_images("calibration"))
        self.candidates: list[Candidate] = []

    def best(self) -> tuple[Candidate, bytes]:
        """Return the best way and the ONNX file that it makes.

        Biases and ranges by the mean squared difference of logits, which tells ways apart that answer alike; then
        layers in float32, where they bring back `LEAST_GAIN` of the answers and no fewer than `LEAST_ANSWERS`.
        """
        gain = max(LEAST_GAIN, LEAST_ANSWERS / self._figures.answers)
        made = [self._made(bias, ranges) for ranges in ("all", "most") for bias in ("plain", "corrected")]
        chosen = min(made, key=lambda one: one[0].difference)
        base = chosen[0]
        for layers in self._float_layers():
            candidate = self._made(base.bias, base.ranges, layers)
            if candidate[0].agreement >= chosen[0].agreement + gain:
                chosen = candidate
        return chosen

    def _float_layers(self) -> tuple[tuple[str, ...], ...]:
        """Return the sets of layers that may stay in float32, so that some other is left for int8."""
        weighted = sum(node.op_type in WEIGHTED for node in self._graph.graph.node)
        sets = (("last",), ("first",), ("first", "last"))
        return tuple(layers for layers in sets if len(layers) < weighted)

    def _made(self, bias: str, ranges: str, layers: Sequence[str] = ()) -> tuple[Candidate, bytes]:
        how: dict[str, Any] = {"ranges": ranges, "float_layers": layers, "seven_bits": self._seven_bits}
        content = int8_graph(self._graph, self._activations, **how)
        if bias == "corrected":
            better = with_corrected_biases(self._graph, content, self._activations)
            content = int8_graph(better, self._activations, **how)
        network = QuantizedNetwork(self._read(content), INT8, Probe(torch.empty(0)), runtime="")
        told = {"bias": bias, "ranges": ranges, "float_layers": tuple(layers)}
        candidate = Candidate.model_validate({**told, **asdict(self._figures.of(network))})
        self.candidates.append(candidate)
        self._on_measured(len(self.candidates))
        return candidate, content
