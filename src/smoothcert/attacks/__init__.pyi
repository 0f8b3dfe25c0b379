from .ascent import GRADIENT_PASS, Losses
from .attacked import attacked
from .free_steps import free_steps
from .method import METHODS, Method, Part
from .methods.ddn import ddn
from .methods.pgd import pgd
from .smoothed_loss import copy_logits, noisy_logits, smoothed_loss
from .stepwise import ATTACKS
from .stepwise_attack import Attack

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
