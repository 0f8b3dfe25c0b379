"""What is said about an ensemble that was made."""

from __future__ import annotations

from pathlib import Path

from smoothcert import folders
from smoothcert.amounts import amount


def ensemble_sentence(card: folders.EnsembleCard, out: Path) -> str:
    """Return what the ensemble is and where, in a line."""
    count = len(card.members if card.heads is None else card.heads)
    who = f"{count} {'member' if card.heads is None else 'head'}{'s' if count > 1 else ''}"
    who += "" if card.heads is None else " of one network"
    parts = [f"{out}: {who}", f"rule {card.rule}"]
    if card.weights is not None:
        total = sum(map(abs, card.weights))
        parts.append("weights " + " ".join(f"{weight / total:.3f}" for weight in card.weights))
    if card.early_exit is not None:
        parts.append(card.early_exit.sentence())
    if card.heads is None and any(use.purpose == "order" for use in card.fitted):
        parts.append("in the order " + " ".join(member.path for member in card.members))
    for use in card.fitted:
        what = "order" if use.purpose == "order" else f"weights ({use.purpose})"
        parts.append(
            f"{what} chosen on {amount(use.images, 'image')} of {use.dataset} ({use.split}), seed {use.seed}"
        )
    return ". ".join([", ".join(parts), *_forecast(card)])


def _forecast(card: folders.EnsembleCard) -> list[str]:
    """Say what the theory of margins expects of equal weights, where it was asked."""
    return [
        f"The theory expects equal weights to {'help' if mixed < alone else 'do harm'}: at most {mixed:.1%} wrong "
        f"votes on the hold-out, {alone:.1%} for the best member (bounds from estimated margins, no certificate)"
        for use in card.fitted
        if "uniform_bound" in use.found
        for mixed, alone in [(use.found["uniform_bound"], use.found["best_member_bound"])]
    ]
