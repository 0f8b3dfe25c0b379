"""Self-paced learning (SOME, Fang et al.): easy images count fully, hard ones less, by a threshold that sinks."""

from __future__ import annotations

import math

from smoothcert.on_demand import torch

SCHEMES = ("soft", "hard", "high-loss")
PACES = ("logarithmic", "constant")


def threshold_at(epoch: int, epochs: int, *, first: float, last: float) -> float:
    """Return lambda(t) = -log10(a t + b), with a and b such that lambda(1) = first and lambda(T) = last.

    Not defined by that if T = 1, where it is `last`: what a training is set to end with.

    Args:
        epoch: number t of the epoch, 1 .. epochs.
        epochs: number T of epochs.
        first: loss of the first epoch, in nats; ln C in the paper, the loss of a guess among C classes.
        last: loss of the last epoch, in nats.
    """
    if epochs == 1:
        return last
    start, end = 10.0**-first, 10.0**-last
    return -math.log10(start + (end - start) * (epoch - 1) / (epochs - 1))


def self_paced_weights(
    judged: torch.Tensor, graded: torch.Tensor, threshold: float, scheme: str
) -> torch.Tensor:
    """Return the weight of every image, in [0, 1], without a graph; Eq. (5) of the paper for "soft".

    Not continuous: a weight falls from 1 to (1 + exp(-lambda)) / 2 as a loss passes the threshold.

    Args:
        judged: smoothed losses that decide which images are easy (at most the threshold), any shape, in nats.
        graded: smoothed losses that decide how much the others count, of the same shape; in the paper the same.
        threshold: lambda, in nats.
        scheme: "soft" (1 if easy, else (1 + exp(-lambda)) / (1 + exp(loss - lambda))), "hard" (1 or 0), or
            "high-loss" (soft mirrored at the threshold: 1 unless easy, easy images count less the easier they are).
    """
    judged, graded = judged.detach(), graded.detach()
    easy = judged <= threshold
    if scheme == "hard":
        return easy.to(judged.dtype)
    mirror = scheme == "high-loss"
    distance = threshold - graded if mirror else graded - threshold
    # As a sigmoid: exp(loss) itself would overflow for a network that is sure of a wrong class.
    partial = (1 + math.exp(-threshold)) * torch.sigmoid(-distance)
    return torch.where(~easy if mirror else easy, 1.0, partial)
