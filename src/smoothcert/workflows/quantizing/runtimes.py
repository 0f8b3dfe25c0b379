"""The engines that can run a quantised network here: what each answers to the probe, and how fast it is."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version

import torch

from smoothcert.engines import ENGINES, Engine, EngineUnavailableError, rows_in_cache
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import read_graph
from smoothcert.networks import Probe, QuantizedNetwork

_REPEATS = 5
_INPUTS, _CLASSES = 16, 2  # of the graph that a precision is tried on


@dataclass(frozen=True)
class Runtime:
    """One engine with a quantised network in it.

    Args:
        kind: of the engine.
        run: from images to logits.
        microseconds: of one vote on one thread.
    """

    kind: type[Engine]
    run: Callable[[torch.Tensor], torch.Tensor]
    microseconds: float

    @property
    def version(self) -> str:
        """Of the package that calculates."""
        assert self.kind.package is not None
        return version(self.kind.package)


def refuse_unable(precision: str) -> None:
    """Raise `InvalidArgumentError` where no engine here runs networks in a precision.

    Tried on a graph of one layer, because only compiling one shows what a runtime would really calculate in.

    Args:
        precision: in `PRECISIONS`.
    """
    graph = read_graph(_one_layer(), input_shape=(_INPUTS,), num_classes=_CLASSES)
    network = QuantizedNetwork(graph, precision, Probe(torch.empty(0)), runtime="")
    able_runtimes(network, torch.zeros(_INPUTS))


def able_runtimes(network: QuantizedNetwork, image: torch.Tensor) -> dict[str, Runtime]:
    """Return the engines that can run a network here, by name, the fastest first.

    Args:
        network: just made.
        image: one noisy image.
    """
    rows = rows_in_cache(image)
    batch = image.expand(rows, *image.shape).contiguous()
    runs, reasons = {}, []
    for name in ENGINES:
        if ENGINES.package_of(name) is None and ENGINES[name].runs_quantized:
            try:
                runs[name] = ENGINES[name].quantized_run(network, rows)
                runs[name](batch)  # compiles, and shows what is missing
            except EngineUnavailableError as error:
                reasons.append(f"{name}: {error}")
    if not runs:
        raise InvalidArgumentError(
            f"nothing here runs a network in {network.precision} ({'; '.join(reasons)}); install what is missing, or "
            "choose another precision"
        )
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(_REPEATS):
        for name, run in runs.items():
            begin = time.perf_counter()
            run(batch)
            best[name] = min(best[name], time.perf_counter() - begin)
    by_speed = sorted(runs, key=lambda name: best[name])
    return {name: Runtime(ENGINES[name], runs[name], 1e6 * best[name] / rows) for name in by_speed}


def _one_layer() -> bytes:
    """Return a linear layer as the content of an ONNX file."""
    from onnx import TensorProto, helper, numpy_helper

    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, ["rows", _INPUTS])
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["rows", _CLASSES])
    weights = numpy_helper.from_array(torch.ones(_INPUTS, _CLASSES).numpy(), "weights")
    layer = helper.make_node("Gemm", ["images", "weights"], ["logits"])
    graph = helper.make_graph([layer], "one layer", [images], [logits], [weights])
    content: bytes = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    ).SerializeToString()
    return content
