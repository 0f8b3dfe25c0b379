"""Attacks: smoothed classifier + image -> an image close by on which it does worse."""

from smoothcert.attacks.ascent import GRADIENT_PASS, Losses
from smoothcert.attacks.attack import ATTACKS, Attack
from smoothcert.attacks.attacked import attacked
from smoothcert.attacks.attempts import AttackedImage, AttackResults, Attempt
from smoothcert.attacks.ddn import ddn
from smoothcert.attacks.evaluation import attack_images
from smoothcert.attacks.free_steps import free_steps
from smoothcert.attacks.methods import METHODS
from smoothcert.attacks.pgd import pgd
from smoothcert.attacks.record import read_attack
from smoothcert.attacks.smoothed_loss import copy_logits, noisy_logits, smoothed_loss

__all__ = [
    "ATTACKS",
    "GRADIENT_PASS",
    "METHODS",
    "Attack",
    "AttackResults",
    "AttackedImage",
    "Attempt",
    "Losses",
    "attack_images",
    "attacked",
    "copy_logits",
    "ddn",
    "free_steps",
    "noisy_logits",
    "pgd",
    "read_attack",
    "smoothed_loss",
]
