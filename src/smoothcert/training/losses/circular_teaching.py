"""What the objectives of SOME (Fang et al.) share: heads that weigh the images for each other, in a circle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from smoothcert import networks
from smoothcert.arguments import check_switch
from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import nn, torch
from smoothcert.training.losses.checks import (
    check_choice,
    check_count,
    check_positive,
    check_weight,
)
from smoothcert.training.losses.head_cosine import head_cosine
from smoothcert.training.losses.self_paced import PACES, SCHEMES, self_paced_weights, threshold_at
from smoothcert.training.objective import Objective
from smoothcert.training.steps.step import Moment

TEACHERS = ("previous", "self", "none")


@dataclass(frozen=True, kw_only=True)
class CircularTeaching(Objective):
    """Settings of circular teaching, and how it turns losses per head and image into one.

    The loss of head k on image n counts nu_n^(k-1) times, a weight that the previous head's smoothed loss gives
    without a gradient; the last head weighs for the first. Then come the mean over images and heads, and the
    cosine penalty. Not an objective of its own: a subclass says what the loss of a head is.

    Args:
        m: noisy copies per image.
        teacher: whose smoothed loss weighs an image for a head: that of the "previous" head, its "self", or "none"
            (all weights 1: a plain multi-head network).
        weights: scheme of the weights, "soft", "hard" or "high-loss" (`self_paced_weights`).
        threshold: lambda at the last epoch, the largest smoothed loss of an easy image, in nats.
        pace: "logarithmic" lets lambda go from ln(number of classes) to `threshold`; "constant" keeps it there.
        teacher_weight: grade hard images by the teacher's loss, as the paper says; False grades them by the
            pupil's own, as its published code does, which images are hard being the teacher's word still.
        cosine: weight of the cosine penalty; 0 leaves it out.
    """

    least_heads: ClassVar[int] = 2
    m: int = 2
    teacher: str = "previous"
    weights: str = "soft"
    threshold: float = 0.8
    pace: str = "logarithmic"
    teacher_weight: bool = True
    cosine: float = 1.0

    def __post_init__(self) -> None:
        check_count("m", self.m)
        check_choice("teacher", self.teacher, TEACHERS)
        check_choice("weights", self.weights, SCHEMES)
        check_positive("threshold", self.threshold, unit=" in nats")
        check_choice("pace", self.pace, PACES)
        check_switch("teacher_weight", self.teacher_weight)
        check_weight("cosine", self.cosine)

    @property
    @override
    def copies(self) -> int:
        return self.m

    def weighted_parts(
        self, model: networks.MultiHead, terms: dict[str, torch.Tensor], classes: int, moment: Moment
    ) -> dict[str, torch.Tensor]:
        """Return the named parts of the loss: weighted means over heads and images, and the cosine penalty.

        Args:
            model: the network whose heads are penalised.
            terms: named losses of every head and image, (heads, rows); "cross_entropy" is the smoothed loss.
            classes: number of classes.
            moment: how far training has come.
        """
        weights = self.image_weights(terms["cross_entropy"].detach(), classes, moment)
        parts = {name: (weights * values).mean() for name, values in terms.items()}
        if self.cosine > 0:
            parts["cosine"] = self.cosine * head_cosine(model.heads)
        return parts

    def image_weights(self, losses: torch.Tensor, classes: int, moment: Moment) -> torch.Tensor:
        """Return what every head's loss on every image counts, (heads, rows), from the smoothed losses."""
        if self.teacher == "none":
            return torch.ones_like(losses)
        # Row k becomes the loss of head k - 1, row 0 that of the last head.
        teaching = losses.roll(1, dims=0) if self.teacher == "previous" else losses
        graded = teaching if self.teacher_weight else losses
        return self_paced_weights(teaching, graded, self.threshold_in(moment, classes), self.weights)

    def threshold_in(self, moment: Moment, classes: int) -> float:
        """Return lambda in an epoch, in nats."""
        if self.pace == "constant":
            return self.threshold
        return threshold_at(moment.epoch, moment.epochs, first=math.log(classes), last=self.threshold)


def with_heads(model: nn.Module) -> networks.MultiHead:
    """Return the model as one with heads to teach; refuse any other."""
    network = networks.multi_head_of(model)
    if network is None or len(network.heads) < CircularTeaching.least_heads:
        got = type(model).__name__ if network is None else f"a MultiHead of {len(network.heads)}"
        raise InvalidArgumentError(
            f"heads that teach each other need a MultiHead of at least {CircularTeaching.least_heads}, got {got}; "
            'make one with create_model(.., heads=5), or train with heads=5 (split="100%" for whole networks)'
        )
    return network


def copies_head_logits(model: networks.MultiHead, copies: torch.Tensor) -> torch.Tensor:
    """Return every head's logits of copies that are noisy already, (heads, m, rows, classes), at least in float32.

    Args:
        model: the network.
        copies: noisy images in pixel units, (m, rows, ...).
    """
    logits = model.head_logits(copies.flatten(0, 1))
    if logits.dtype in (torch.float16, torch.bfloat16):  # autocast: too coarse for logarithms
        logits = logits.float()
    return logits.reshape(*copies.shape[:2], *logits.shape[1:]).permute(2, 0, 1, 3)


def smoothed_losses(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy averaged over the copies, per head and image, (heads, rows): Eq. (4) of the paper.

    Args:
        logits: of the noisy copies, (heads, m, rows, classes).
        labels: class indices, (rows,).
    """
    heads, m, rows, classes = logits.shape
    losses = torch.nn.functional.cross_entropy(
        logits.reshape(-1, classes), labels.repeat(heads * m), reduction="none"
    )
    return losses.reshape(heads, m, rows).mean(dim=1)
