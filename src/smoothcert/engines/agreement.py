"""No engine may answer otherwise than the model it executes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from smoothcert.engines.engine import EngineUnavailableError
from smoothcert.ensembles import MIN_ROWS

_TRIALS = ((MIN_ROWS, 0.5), (3 * MIN_ROWS + 1, 0.5), (4 * MIN_ROWS, 4.0))  # rows, and strength of the noise
TOLERANCE = 1e-4
"""Largest difference of logits, relative to the largest logit where that is above 1."""


def refuse_other_answers(
    faster: Callable[[torch.Tensor], Any], model: Callable[[torch.Tensor], Any], example: torch.Tensor
) -> None:
    """Compare an engine's logits with the model's own on noisy copies of an image; raise if they differ.

    Two numbers of rows, because a faulty export may have kept the number it was made with. Some rows hold a value
    that is no number: kernels that fuse a convolution with what follows may turn it into an answer, and a vote
    that ought to be an error would count. Some noise is stronger than any that is certified with, because compilers
    simplify formulas in ways that hold for moderate numbers only.
    """
    generator = torch.Generator().manual_seed(0)
    for rows, strength in _TRIALS:
        noise = torch.empty((rows, *example.shape)).normal_(0.0, strength, generator=generator)
        flat = noise.view(rows, -1)
        flat[:: MIN_ROWS // 2, flat.shape[1] // 2] = torch.nan
        try:
            with torch.inference_mode():
                expected = torch.as_tensor(model(example + noise)).detach().cpu().clone()
                found = torch.as_tensor(faster(example + noise)).detach().cpu()
        except Exception as error:  # the model's own code; the probe will name the trouble
            raise EngineUnavailableError(f"the model raised {type(error).__name__}") from error
        if found.shape != expected.shape:
            raise EngineUnavailableError(
                f"it answers with shape {tuple(found.shape)} instead of {tuple(expected.shape)}"
            )
        largest = max(1.0, float(expected.abs().nan_to_num(0.0, 0.0, 0.0).max()))
        if not torch.allclose(found, expected, rtol=0.0, atol=TOLERANCE * largest, equal_nan=True):
            if not torch.equal(found.isfinite(), expected.isfinite()):
                raise EngineUnavailableError(
                    "it gives a finite answer where the model's own is not, or the reverse"
                )
            gap = float((found - expected).abs().nan_to_num(0.0).max())
            raise EngineUnavailableError(f"its logits differ from the model's by {gap:.2g}")
