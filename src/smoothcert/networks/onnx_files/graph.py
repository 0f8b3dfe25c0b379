"""A graph of an ONNX file with what is known about it: one batch of images in, scores out."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.errors import ModelOutputError
from smoothcert.networks.onnx_files.session import onnx_session, runtime_reason


class OnnxGraph:
    """An ONNX file's content, ready to be run; several threads may ask it at the same time.

    Not a check of the file: `read_onnx` has made one.

    Args:
        content: of the file, all weights in it.
        input_name: of its one input, float32 images.
        output_name: of its scores, (rows, classes).
        input_shape: shape of one image.
        num_classes: number of scores.
        rows: that every pass must have; None for any number.
        parameters: numbers in its weights.
    """

    def __init__(
        self,
        content: bytes,
        input_name: str,
        output_name: str,
        input_shape: tuple[int, ...],
        num_classes: int,
        rows: int | None,
        parameters: int,
    ) -> None:
        self.content, self.input_name, self.output_name = content, input_name, output_name
        self.input_shape, self.num_classes, self.rows = input_shape, num_classes, rows
        self.parameters = parameters
        self.sha256 = hashlib.sha256(content).hexdigest()
        self._session: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Return everything but the session, which belongs to its process."""
        return {**vars(self), "_session": None}

    def run(self, images: NDArray[np.float32]) -> NDArray[Any]:
        """Return the scores of images, (rows, classes); rows are filled up or split where passes have a fixed number.

        Args:
            images: (rows, *input_shape).
        """
        if self.rows is None:
            return self._pass(images)
        pieces = [
            self._pass(self._whole(images[first : first + self.rows])) for first in self._starts(images)
        ]
        return np.concatenate(pieces)[: len(images)]

    def _starts(self, images: NDArray[np.float32]) -> range:
        assert self.rows is not None
        return range(0, len(images), self.rows)

    def _whole(self, images: NDArray[np.float32]) -> NDArray[np.float32]:
        missing = (self.rows or 0) - len(images)
        if not missing:
            return images
        return np.concatenate([images, np.zeros((missing, *images.shape[1:]), images.dtype)])

    def _pass(self, images: NDArray[np.float32]) -> NDArray[Any]:
        if self._session is None:
            self._session = onnx_session(self.content)
        try:
            (scores,) = self._session.run([self.output_name], {self.input_name: images})
        except Exception as error:  # kinds of its own
            raise ModelOutputError(
                f"ONNX Runtime cannot run the model on images of shape {images.shape}: {runtime_reason(error)}; "
                f"it takes {self.input_shape} each"
            ) from error
        return np.asarray(scores)
