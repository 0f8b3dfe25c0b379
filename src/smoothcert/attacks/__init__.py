"""Attacks: smoothed classifier + image -> an image close by on which it does worse."""

from smoothcert.attacks.ascent import GRADIENT_PASS, Losses
from smoothcert.attacks.attack import Attack
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.free_steps import free_steps
from smoothcert.attacks.method import METHODS, Method, Part
from smoothcert.attacks.methods.ddn import ddn
from smoothcert.attacks.methods.pgd import pgd
from smoothcert.attacks.smoothed_loss import copy_logits, noisy_logits, smoothed_loss
from smoothcert.attacks.stepwise import ATTACKS

__all__ = [
    "ATTACKS",
    "GRADIENT_PASS",
    "METHODS",
    "Attack",
    "Losses",
    "Method",
    "Part",
    "attacked",
    "copy_logits",
    "ddn",
    "free_steps",
    "noisy_logits",
    "pgd",
    "smoothed_loss",
]
