"""The consistency regulariser (Jeong and Shin 2020): the noisy copies of an image should get the same answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_choice, check_weight
from smoothcert.training.losses.smoothed_probability import clamped_log, smoothed_probability

TWO_COPIES = ", because consistency compares the copies of one image"


def divergence(logits: torch.Tensor) -> torch.Tensor:
    """Return mean_i KL(z || F_i) per image, (rows,); logits (m, rows, classes). Gradients flow through z."""
    z = smoothed_probability(logits)
    return (z * (clamped_log(z) - clamped_log(logits.softmax(dim=-1)))).sum(dim=-1).mean(dim=0)


def squared_distance(logits: torch.Tensor) -> torch.Tensor:
    """Return ||F_i - F_j||^2 averaged over pairs of copies, per image, (rows,); logits (m, rows, classes).

    The paper writes it for two copies. Over all pairs it is 2 / (m - 1) times the sum of squares around the mean.
    """
    probabilities = logits.softmax(dim=-1)
    squares = (probabilities - probabilities.mean(dim=0)).square().sum(dim=-1)
    return 2 / (logits.shape[0] - 1) * squares.sum(dim=0)


def entropy(logits: torch.Tensor) -> torch.Tensor:
    """Return H(z) per image, (rows,); logits (m, rows, classes)."""
    z = smoothed_probability(logits)
    return -(z * clamped_log(z)).sum(dim=-1)


_DISTANCES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "kl": divergence,
    "kl-only": divergence,
    "mse": squared_distance,
}


@dataclass(frozen=True)
class ConsistencyRegulariser:
    """lambda times the distance between the copies' answers, and eta times the entropy of their mean.

    Not a loss by itself: a constant answer makes its first part zero.

    Args:
        lbd: weight lambda of the distance.
        eta: weight of the entropy; used by the variant "kl" alone.
        variant: "kl", "mse" or "kl-only".
    """

    lbd: float
    eta: float
    variant: str

    def __post_init__(self) -> None:
        check_weight("lbd", self.lbd)
        check_weight("eta", self.eta)
        check_choice("variant", self.variant, _DISTANCES)

    def parts(self, logits: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the named terms, weighted, averaged over images; logits (m, rows, classes), m at least 2."""
        return {name: values.mean() for name, values in self.per_image(logits).items()}

    def per_image(self, logits: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the named terms, weighted, of every image, (rows,); logits (m, rows, classes), m at least 2."""
        terms = {"consistency": self.lbd * _DISTANCES[self.variant](logits)}
        if self.variant == "kl":
            terms["entropy"] = self.eta * entropy(logits)
        return terms
