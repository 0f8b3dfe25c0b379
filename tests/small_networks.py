"""Folders of small networks with random weights, for tests of what reads, joins and runs them."""

import torch

from smoothcert.folders import ModelCard, load_model, save_checkpoint
from smoothcert.folders.denoised_folder import denoised_entry
from smoothcert.networks import Denoised
from smoothcert.networks.dncnn import DnCNN

DIGITS = tuple("0123456789")


def small_card(**changes):
    """Return the card of a small network on the digits; `changes` are fields of `ModelCard`."""
    fields = {
        "architecture": "convnet",
        "num_classes": len(changes.get("class_names", DIGITS)),
        "input_shape": (1, 8, 8),
        "mean": (0.0,),
        "std": (1.0,),
        "method": "gaussian",
        "noise": {"name": "gaussian", "sigma": 0.25},
        "dataset": {"name": "digits", "digest": "d"},
        "training": {},
        "metrics": {},
        "class_names": DIGITS,
    }
    return ModelCard(**{**fields, **changes})


def random_network(card, seed):
    """Return the network that a card describes, its weights drawn from a seed; torch's own state stays as it is."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return card.build()


def save_network(folder, seed, **changes):
    """Write the folder of a network of random weights and return it; `changes` are fields of its card."""
    card = small_card(**{"training": {"seed": seed}, **changes})
    save_checkpoint(random_network(card, seed), card, folder)
    return folder


def save_denoised(classifier, folder, **changes):
    """Write the folder of a small denoiser before a classifier's folder; `changes` are fields of its card."""
    model, card = load_model(classifier)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        both = Denoised(DnCNN(1, 3, 4), model)
    entry = denoised_entry(both, classifier, folder)
    update = {"architecture": "dncnn", "denoised": entry, **changes}
    save_checkpoint(both, card.model_copy(update=update), folder)
