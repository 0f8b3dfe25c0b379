"""Max-margin voting: the surest member decides."""

from __future__ import annotations

from typing import ClassVar

import torch

from smoothcert.ensembles.rules.soft import Soft
from smoothcert.ensembles.voting_rule import VotingRule, showing_faults


class MaxMargin(VotingRule):
    """The logits of the member with the largest softmax margin, the first of those that tie.

    A function of the noisy image alone, so its certificates are sound, although the deciding member changes.
    """

    refuses_weights: ClassVar[str | None] = "one member decides"

    @staticmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the surest member's logits."""
        # In double precision, because confident members all have margin 1 in float32.
        top = member_logits.double().softmax(dim=2).topk(2, dim=2).values
        margins = top[:, :, 0] - top[:, :, 1]
        best, answer = margins[:, 0], member_logits[:, 0]
        for member in range(1, member_logits.shape[1]):
            better = margins[:, member] > best
            best = torch.where(better, margins[:, member], best)
            answer = torch.where(better.unsqueeze(1), member_logits[:, member], answer)
        return showing_faults(answer, Soft.combine(member_logits, weights))
