"""No engine may answer otherwise than the model it executes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from smoothcert.engines.allowed_difference import same_answers
from smoothcert.engines.turns import turn
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.errors import SmoothcertError
from smoothcert.networks import MIN_ROWS, as_logits
from smoothcert.noise import NoiseLaw

_TRIALS = ((MIN_ROWS, 0.05), (MIN_ROWS, 0.5), (3 * MIN_ROWS + 1, 0.5), (4 * MIN_ROWS, 4.0))  # rows, noise
TOLERANCE = 1e-4
"""Largest difference of logits, as a share of the spread between classes."""
_CHUNK = 64  # rows drawn at a time


def refuse_other_answers(
    faster: Callable[[torch.Tensor], Any], model: Callable[[torch.Tensor], Any], example: torch.Tensor
) -> None:
    """Compare an engine's logits with the model's own on noisy copies of an image; raise if they differ.

    Several numbers of rows, because a faulty export may have kept the number it was made with. Some rows hold a value
    that is no number: kernels that fuse a convolution with what follows may turn it into an answer, and a vote
    that ought to be an error would count. Some noise is stronger than any that is certified with, because compilers
    simplify formulas in ways that hold for moderate numbers only.
    """
    _refuse_differences(faster, model, list(_trials(example)))


def refuse_other_answers_under(
    noise: NoiseLaw,
    rows: Sequence[int],
    faster: Callable[[torch.Tensor], Any],
    model: Callable[[torch.Tensor], Any],
    example: torch.Tensor,
) -> None:
    """Compare as `refuse_other_answers` does, under the noise and at the numbers of rows that will be asked about."""
    generator = torch.Generator().manual_seed(1)
    batches = [torch.empty((-(-count // _CHUNK) * _CHUNK, *example.shape)) for count in rows]
    for batch in batches:
        for first in range(0, len(batch), _CHUNK):
            noise.perturb(example, batch[first : first + _CHUNK], generator)
    _refuse_differences(faster, model, [batch[:count] for batch, count in zip(batches, rows, strict=True)])


def _trials(example: torch.Tensor) -> Iterator[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    for rows, strength in _TRIALS:
        noise = torch.empty((rows, *example.shape)).normal_(0.0, strength, generator=generator)
        flat = noise.view(rows, -1)
        flat[:: MIN_ROWS // 2, flat.shape[1] // 2] = torch.nan
        yield example + noise


def _refuse_differences(
    faster: Callable[[torch.Tensor], Any],
    model: Callable[[torch.Tensor], Any],
    batches: Sequence[torch.Tensor],
) -> None:
    try:
        with torch.inference_mode(), turn():
            # Copied at once, because a model may write all its answers into one buffer.
            expected, answered = (
                [as_logits(ask(batch.clone()), len(batch)).detach().cpu().clone() for batch in batches]
                for ask in (model, faster)
            )
    except SmoothcertError as error:
        raise EngineUnavailableError(str(error)) from error
    except Exception as error:  # the model's own code; the probe will name the trouble
        raise EngineUnavailableError(f"the model raised {type(error).__name__}") from error
    for own, other in zip(expected, answered, strict=True):
        _refuse_difference(own, other)


def _refuse_difference(expected: torch.Tensor, answered: torch.Tensor) -> None:
    if answered.shape != expected.shape:
        raise EngineUnavailableError(
            f"it answers with shape {tuple(answered.shape)} instead of {tuple(expected.shape)}"
        )
    if expected.dim() > 3:  # features of a trunk, judged by all of an image's together
        expected, answered = expected.flatten(1), answered.flatten(1)
    answered, expected = answered.double(), expected.double()
    if not same_answers([answered], [expected], TOLERANCE):
        if not torch.equal(answered.isfinite(), expected.isfinite()):
            raise EngineUnavailableError(
                "it gives a finite answer where the model's own is not, or the reverse"
            )
        worst = float((answered - expected).abs().nan_to_num(0.0).max())
        raise EngineUnavailableError(f"its logits differ from the model's by {worst:.2g}")
