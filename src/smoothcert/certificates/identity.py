"""Who a model is: the digest of its weights and a fingerprint of all else that decides its answers."""

from __future__ import annotations

from typing import Any

from torch import nn

from smoothcert.certificates.fingerprint import Fingerprint
from smoothcert.networks import classifiers_of, model_digest

_UNSETTLED = "/unsettled"


def identities(model: Any) -> tuple[str, ...]:
    """Return one identity per answer of a model; a panel names its classifiers."""
    return tuple(_identity(part) for part in classifiers_of(model))


def is_settled(identity: str) -> bool:
    """Return whether a model of the same identity is the same model, as far as Python can tell.

    Not so where it is code of the user's own, which can read more than can be followed, or holds what shows no content,
    such as another runtime's session: whether that was exchanged cannot be known for sure, so no vote may rest on two
    such identities being equal.
    """
    return not identity.endswith(_UNSETTLED)


def code_fingerprint(value: Any) -> str:
    """Return a fingerprint of the code, structure and settings of a module or function, 16 hex digits.

    Not of weights: those of a module that are trained or loaded are left out. It follows what `identities` follows, and
    like there, what is read from files or the network is not in it.
    """
    return Fingerprint(lambda part: "").text(value)


def _identity(model: Any) -> str:
    """Return the weights digest and a fingerprint of the structure, or name and fingerprint of a callable.

    A fingerprint covers code, class names, and the values, arrays, functions, modules and global variables that it
    refers to. It tells two closures of one function apart; what is read from files or the network is not in it.
    """
    if isinstance(model, nn.Module):
        weights = model_digest(model)  # once: it reads every weight
        fingerprint = Fingerprint(lambda part: weights if part is model else model_digest(part))
        text = f"{weights}/{fingerprint.text(model)}"
    else:
        fingerprint = Fingerprint(model_digest)
        name = getattr(model, "__qualname__", type(model).__qualname__)
        module = getattr(model, "__module__", None) or type(model).__module__
        text = f"callable:{module}.{name}:{fingerprint.text(model)}"
    return text if fingerprint.settled else f"{text}{_UNSETTLED}"
