"""The MACER loss (Zhai et al. 2020): cross entropy of z, and a hinge on the certified radius."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.on_demand import torch
from smoothcert.training.losses.checks import check_positive, check_weight
from smoothcert.training.losses.smoothed_probability import smoothed_probability

_SMALLEST = 1e-10  # added inside the logarithm of z


@dataclass(frozen=True)
class MacerLoss:
    """-log z_y + lambda sigma / 2 max(gamma - xi, 0) for images that are classified right.

    xi = Phi^-1(zb_y) - Phi^-1(largest other zb), zb the mean of softmax(beta logits): 2 / sigma times the radius.
    Not an average over the images that are right: both terms divide by the number of all images.

    Args:
        lbd: weight lambda of the radius term.
        gamma: hinge; an image with xi beyond it is left alone.
        beta: inverse temperature of the softmax that stands for the vote.
    """

    lbd: float
    gamma: float
    beta: float

    def __post_init__(self) -> None:
        check_weight("lbd", self.lbd)
        check_positive("gamma", self.gamma)
        check_positive("beta", self.beta)

    def parts(
        self, logits: torch.Tensor, labels: torch.Tensor, *, sigma: float, lbd: float | None = None
    ) -> dict[str, torch.Tensor]:
        """Return the two terms, always finite and with finite gradients.

        Args:
            logits: of the noisy copies, (m, rows, classes).
            labels: class indices, (rows,).
            sigma: standard deviation of the noise, in pixel units.
            lbd: weight of the radius term in place of the loss's own, if given.
        """
        own = labels.unsqueeze(1)
        of_label = smoothed_probability(logits).gather(1, own)
        votes = smoothed_probability(logits, self.beta)
        rows = self._rows(votes, labels)  # chosen before Phi^-1: an infinity times a mask of 0 would be NaN
        hinge = (self.gamma - margin(votes[rows], labels[rows])).sum()
        weight = (self.lbd if lbd is None else lbd) * sigma / 2
        return {
            "cross_entropy": -(of_label + _SMALLEST).log().mean(),
            "radius": weight * hinge / labels.shape[0],
        }

    def _rows(self, votes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        """Return which rows count: classified right, with a finite margin inside the hinge."""
        votes = votes.detach()
        margins = margin(votes, labels)
        # An infinite margin, or the NaN of two infinities, is not <= gamma: that row is dropped too.
        return (votes.argmax(dim=1) == labels) & (margins <= self.gamma)


def margin(votes: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Return xi = Phi^-1(votes of the label) - Phi^-1(most votes of another class), (rows,); may be infinite.

    Args:
        votes: mean probabilities, (rows, classes).
        labels: class indices, (rows,).
    """
    own = labels.unsqueeze(1)
    others = votes.scatter(1, own, -1.0).amax(dim=1)
    xi: torch.Tensor = torch.special.ndtri(votes.gather(1, own).squeeze(1)) - torch.special.ndtri(others)
    return xi
