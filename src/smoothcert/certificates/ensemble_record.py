"""What a run's manifest says about an ensemble: its members, its rule, and when it stops asking."""

from __future__ import annotations

from typing import Any

from torch import nn

from smoothcert.certificates.identity import identities
from smoothcert.networks import Composite, classifiers_of


def ensemble_records(model: Any) -> tuple[dict[str, Any] | None, ...]:
    """Return one record per answer of a model; None for what is no ensemble.

    Not needed to tell two ensembles apart, which their identity does: it lets a reader of the run find the members,
    compute how often a consensus spared the others, and install the packages that a rule or an early exit came from.
    """
    return tuple(_record(part) if isinstance(part, Composite) else None for part in classifiers_of(model))


def _record(model: Composite) -> dict[str, Any] | None:
    record, packages = model.record(_identity_alone), model.packages()
    return {**record, "packages": packages} if record is not None and packages else record


def _identity_alone(member: nn.Module) -> str:
    return identities(member)[0]
