"""A network of an ONNX file as a classifier: run by ONNX Runtime wherever it is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from smoothcert.errors import InvalidArgumentError
from smoothcert.networks.composite import Composite, digest_of_parts
from smoothcert.networks.normalize import Normalize
from smoothcert.networks.onnx_files.graph import OnnxGraph


class OnnxNetwork(Composite):
    """The graph of an ONNX file, with a normalisation before it if one is given.

    Not a torch network: it has neither weights to train nor a gradient to follow, and no engine transforms it.

    Args:
        graph: what was read from the file.
        mean: per channel, in pixel units, for a graph that takes normalised images; None for one that takes pixels.
        std: likewise.
    """

    def __init__(
        self, graph: OnnxGraph, mean: Sequence[float] | None = None, std: Sequence[float] | None = None
    ) -> None:
        super().__init__()
        self.graph = graph
        # As a tensor, so that the digest of whatever holds this network covers the file.
        self.register_buffer(
            "file_digest", torch.tensor(list(bytes.fromhex(graph.sha256)), dtype=torch.uint8)
        )
        self.normalize = None
        if mean is not None or std is not None:
            self.normalize = Normalize(graph.input_shape, mean, std)
        self.eval()

    @property
    def evaluations_per_vote(self) -> int:
        """One: a graph is run as a whole."""
        return 1

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the graph's scores, (rows, classes)."""
        if batch.requires_grad and torch.is_grad_enabled():
            raise InvalidArgumentError(_NO_GRADIENT)
        images = batch if self.normalize is None else self.normalize(batch)
        return torch.from_numpy(self.graph.run(images.detach().cpu().contiguous().numpy()))

    def digest(self) -> str:
        """Return SHA-256 of the file; with a normalisation before it, of that digest and its numbers."""
        if self.normalize is None:
            return self.graph.sha256
        numbers = [self.normalize.mean.flatten().tolist(), self.normalize.std.flatten().tolist()]
        return digest_of_parts(["onnx", self.graph.sha256, *numbers])

    def surrogate(self) -> nn.Module:
        """Refuse: there is none."""
        raise InvalidArgumentError(_NO_GRADIENT)

    def extra_repr(self) -> str:
        """Name the file's digest where torch prints the module; it stands for the graph in an identity."""
        return f"sha256={self.graph.sha256!r}, output={self.graph.output_name!r}, rows={self.graph.rows}"


_NO_GRADIENT = (
    "an ONNX file has no gradients, which an attack follows; attack the network that it was exported from"
)


def onnx_of(model: Any) -> OnnxNetwork | None:
    """Return a model that is the network of an ONNX file; None for any other."""
    return model if isinstance(model, OnnxNetwork) else None


def holds_onnx(model: Any) -> bool:
    """Return whether a model, or a part of it at any depth, is the network of an ONNX file."""
    return isinstance(model, nn.Module) and any(isinstance(part, OnnxNetwork) for part in model.modules())
