"""Who a model is: the digest of its weights, a fingerprint of all else that decides its answers, and its members."""

from __future__ import annotations

from typing import Any, NamedTuple

from torch import nn

from smoothcert.networks import Composite, Fingerprint, classifiers_of, model_digest, refuse_training_mode

_UNSETTLED = "/unsettled"


class Subject(NamedTuple):
    """Whom certificates are about: the identity of one answer of a model, and its record if it is an ensemble."""

    identity: str
    ensemble: dict[str, Any] | None


def subjects_of(model: Any) -> tuple[Subject, ...]:
    """Return whom each answer of a model is about, before it is asked; refuse a module in train mode."""
    parts = _digested(model)
    refuse_training_mode(model)
    return tuple(Subject(_identity(part, digest), _record(part)) for part, digest in parts)


def identities(model: Any) -> tuple[str, ...]:
    """Return one identity per answer of a model; a panel names its classifiers."""
    return tuple(_identity(part, digest) for part, digest in _digested(model))


def ensemble_records(model: Any) -> tuple[dict[str, Any] | None, ...]:
    """Return what a run's manifest says about each answer of a model that is an ensemble; None for what is none.

    Not needed to tell two ensembles apart, which their identity does: it lets a reader of the run find the members,
    compute how often a consensus spared the others, and install the packages that a rule or an early exit came from.
    """
    return tuple(map(_record, classifiers_of(model)))


def is_settled(identity: str) -> bool:
    """Return whether a model of the same identity is the same model, as far as Python can tell.

    Not so where it is code of the user's own, which can read more than can be followed, or holds what shows no content,
    such as another runtime's session: whether that was exchanged cannot be known for sure, so no vote may rest on two
    such identities being equal.
    """
    return not identity.endswith(_UNSETTLED)


def _digested(model: Any) -> list[tuple[Any, str | None]]:
    """Return the classifiers that a model answers for, each module with the digest of its weights."""
    return [
        (part, model_digest(part) if isinstance(part, nn.Module) else None) for part in classifiers_of(model)
    ]


def _identity(model: Any, weights: str | None) -> str:
    """Return the weights digest and a fingerprint of the structure, or name and fingerprint of a callable.

    A fingerprint covers code, class names, and the values, arrays, functions, modules and global variables that it
    refers to. It tells two closures of one function apart; what is read from files or the network is not in it.
    """
    if weights is not None:  # asked for once: it reads every weight
        fingerprint = Fingerprint(lambda part: weights if part is model else model_digest(part))
        text = f"{weights}/{fingerprint.text(model)}"
    else:
        fingerprint = Fingerprint(model_digest)
        name = getattr(model, "__qualname__", type(model).__qualname__)
        module = getattr(model, "__module__", None) or type(model).__module__
        text = f"callable:{module}.{name}:{fingerprint.text(model)}"
    return text if fingerprint.settled else f"{text}{_UNSETTLED}"


def _record(model: Any) -> dict[str, Any] | None:
    if not isinstance(model, Composite):
        return None
    record, packages = model.record(_identity_alone), model.packages()
    return {**record, "packages": packages} if record is not None and packages else record


def _identity_alone(member: nn.Module) -> str:
    return identities(member)[0]
