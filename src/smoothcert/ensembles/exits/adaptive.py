"""SWEEN's adaptive prediction: members are asked by descending weight until the leading class is clear."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import ClassVar

import torch
from typing_extensions import override

from smoothcert.arguments import is_number
from smoothcert.ensembles.early_exit import EarlyExit
from smoothcert.ensembles.early_exit_ensemble import Ask, EarlyExitEnsemble
from smoothcert.ensembles.voting import VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import evaluations_of, padded
from smoothcert.visible import brief


@dataclass(frozen=True)
class Adaptive(EarlyExit):
    """Stop asking once the mixture is clear; the paper's settings by default.

    Args:
        threshold: top probability that lets the first member answer alone, in (0, 1).
        alpha: level of the test that stops asking after the second, two-sided, in (0, 1).
    """

    rule: ClassVar[str | None] = "softmax"

    threshold: float = field(default=0.999, metadata={"option": "adaptive-threshold"})
    alpha: float = field(default=0.05, metadata={"option": "adaptive-alpha"})

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            if not is_number(value, above=0, below=1):
                raise InvalidArgumentError(f"{name} must lie strictly between 0 and 1, got {brief(value)}")

    @override
    def over(self, ensemble: VotingEnsemble) -> AdaptiveEnsemble:
        return AdaptiveEnsemble(ensemble, self.threshold, self.alpha)

    @override
    def sentence(self) -> str:
        return f"asked by weight until clear (threshold {self.threshold:g}, alpha {self.alpha:g})"


class AdaptiveEnsemble(EarlyExitEnsemble):
    """A mixture of probabilities that stops asking once a confidence test says that the rest cannot matter.

    Not the same classifier as the mixture (the test is a heuristic), so it has certificates of its own; they are
    sound, because the test reads nothing but the noisy image. The heaviest member is asked first; it suffices if
    its top probability exceeds `threshold`. From the second on, asking stops when the running mean of the leading
    class exceeds 1/2 by z standard errors. Members without weight are never asked.

    Args:
        ensemble: voting by rule "softmax"; its weights decide the order.
        threshold: top probability of the first member that ends the asking, in (0, 1).
        alpha: level of the test, two-sided, in (0, 1); z = Phi^-1(1 - alpha/2).
    """

    order_weights: torch.Tensor

    def __init__(self, ensemble: VotingEnsemble, threshold: float = 0.999, alpha: float = 0.05) -> None:
        from scipy.special import ndtri

        super().__init__(ensemble, Adaptive(threshold, alpha))
        self.threshold, self.alpha = float(threshold), float(alpha)
        self.z = float(ndtri(1 - alpha / 2))
        weights = ensemble.weights.tolist()
        order = sorted(range(len(weights)), key=lambda member: -weights[member])
        self.order: tuple[int, ...] = tuple(member for member in order if weights[member] > 0)
        self.register_buffer("order_weights", ensemble.weights[list(self.order)].clone(), persistent=False)
        # As numbers: reading a tensor may wait for a GPU.
        self._shares = [weights[member] for member in self.order]

    @property
    def evaluations_per_vote(self) -> int:
        """Most network evaluations that one vote can cost; `vote` counts what it did cost."""
        return sum(evaluations_of(self.members[member]) for member in self.order)

    @override
    def vote(self, batch: torch.Tensor, ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
        open_rows, seen = torch.arange(len(batch), device=batch.device), None
        for place, member in enumerate(self.order):
            part = padded(batch[open_rows]) if place else batch
            answer, extra = ask(self.members[member], part)
            answer, extra = answer[: len(open_rows)], extra[: len(open_rows)]
            if seen is None:
                seen, passes, logits = answer.unsqueeze(1), extra, self._mixture(answer.unsqueeze(1))
            else:
                seen = torch.cat([seen, answer.unsqueeze(1)], dim=1)
                passes = passes.index_put((open_rows,), extra, accumulate=True)
                logits = logits.index_put((open_rows,), self._mixture(seen))
            still = ~self._clear(seen)
            open_rows, seen = open_rows[still], seen[still]
            if len(open_rows) == 0:
                break
        return logits, passes

    @override
    def members_asked(self, member_logits: torch.Tensor) -> torch.Tensor:
        ordered = member_logits[:, list(self.order)]
        reached = torch.zeros(member_logits.shape[:2], dtype=torch.bool, device=member_logits.device)
        still = torch.ones(len(member_logits), dtype=torch.bool, device=member_logits.device)
        for place, member in enumerate(self.order):
            reached[:, member] = still
            still = still & ~self._clear(ordered[:, : place + 1])
        return reached

    @override
    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        ordered = member_logits[:, list(self.order)]
        counts = self.members_asked(member_logits).sum(dim=1)
        logits = self._mixture(ordered)
        for place in range(len(self.order) - 1, 0, -1):
            some = self._mixture(ordered[:, :place])
            logits = torch.where((counts == place).unsqueeze(1), some, logits)
        return logits

    def _mixture(self, seen: torch.Tensor) -> torch.Tensor:
        """Return the mixture of the members asked first, (rows, classes), from logits (rows, asked, classes)."""
        weights = self.order_weights[: seen.shape[1]]
        return self.ensemble.rule_function(seen, weights / weights.sum())

    def _clear(self, seen: torch.Tensor) -> torch.Tensor:
        """Return where asking may stop, (rows,), from the logits of those asked so far (rows, asked, classes)."""
        # Member by member, elementwise in a fixed order and in double precision, as the rules do.
        probabilities, count = seen.double().softmax(dim=2), seen.shape[1]
        if count == 1:
            return probabilities[:, 0].amax(dim=1) > self.threshold
        total = math.fsum(self._shares[:count])
        weights = [share / total for share in self._shares[:count]]
        mean = probabilities[:, 0] * weights[0]
        for member in range(1, count):
            mean = mean + probabilities[:, member] * weights[member]
        leading = mean.argmax(dim=1, keepdim=True)
        top = mean.gather(1, leading).squeeze(1)
        spread = torch.zeros_like(top)
        for member in range(count):
            gap = probabilities[:, member].gather(1, leading).squeeze(1) - top
            spread = spread + gap * gap * weights[member]
        clear: torch.Tensor = top > 0.5 + self.z * math.hypot(*weights) * spread.sqrt()
        return clear

    def extra_repr(self) -> str:
        """Name the settings of the test where torch prints the module."""
        return f"threshold={self.threshold}, alpha={self.alpha}, order={self.order}"
