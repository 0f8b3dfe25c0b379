"""Attacks: smoothed classifier + image -> an image close by on which it does worse."""

from smoothcert.attacks.ascent import GRADIENT_PASS, Losses
from smoothcert.attacks.attack import ATTACKS, Attack
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.ddn import ddn
from smoothcert.attacks.free_steps import free_steps
from smoothcert.attacks.method import Part
from smoothcert.attacks.methods import METHODS
from smoothcert.attacks.pgd import pgd
from smoothcert.attacks.smoothed_loss import copy_logits, noisy_logits, smoothed_loss

__all__ = [
    "ATTACKS",
    "GRADIENT_PASS",
    "METHODS",
    "Attack",
    "Losses",
    "Part",
    "attacked",
    "copy_logits",
    "ddn",
    "free_steps",
    "noisy_logits",
    "pgd",
    "smoothed_loss",
]
