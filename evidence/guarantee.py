"""Errors and power of every procedure against closed-form truth, and the errors of unsound twins."""

from __future__ import annotations

from typing import Any

from evidence.record import record
from tests import truth

import smoothcert as sc

SEED = 20_240_601


def make() -> None:
    """Certify the same half-space 2,000 times per cell with independent noise."""
    cells = [_untargeted(name, law) for name in truth.UNTARGETED for law in truth.LAWS]
    cells += [_targeted(name, law) for name in truth.TARGETED for law in truth.LAWS]
    record(
        "guarantee",
        about=f"{truth.TIMES} certifications each at alpha = {truth.ALPHA}: false certificates with the target just "
        "above the true radius, and the share certified with a target 20% below it; unsound twins beside them.",
        seed=SEED,
        interval="two-sided 95% Clopper-Pearson over certifications",
        figures={
            "allowed_errors": truth.most_errors(truth.TIMES, truth.ALPHA),
            "sound": cells,
            "unsound": _twins(),
        },
    )


def _run(model: Any, noise: Any, procedure: Any, shift: int, **how: Any) -> Any:
    return truth.certify_often(
        model, noise, procedure, times=truth.TIMES, alpha=truth.ALPHA, seed=SEED + shift, **how
    )


def _interval(count: int) -> list[float]:
    return [
        round(sc.bounds.clopper_pearson_lower(count, truth.TIMES, 0.025), 5),
        round(sc.bounds.clopper_pearson_upper(count, truth.TIMES, 0.025), 5),
    ]


def _cell(name: str, law: str, errors: int, reached: int) -> dict[str, Any]:
    print(f"{name:16} {law:9} errors {errors:4d} of {truth.TIMES}, reached {reached}", flush=True)
    return {
        "procedure": name,
        "law": law,
        "errors": errors,
        "error_interval": _interval(errors),
        "reached_80_percent_of_the_radius": reached,
        "reached_interval": _interval(reached),
    }


def _untargeted(name: str, law: str) -> dict[str, Any]:
    margin = truth.MARGINS[law]
    results = _run(truth.half_space(margin), truth.LAWS[law], truth.UNTARGETED[name], 1)
    return _cell(name, law, truth.errors(results, margin), int((results.radius >= 0.8 * margin).sum()))


def _targeted(name: str, law: str) -> dict[str, Any]:
    margin, make_procedure = truth.MARGINS[law], truth.TARGETED[name]
    model, noise = truth.half_space(margin), truth.LAWS[law]
    above = _run(model, noise, make_procedure(margin * truth.JUST_ABOVE), 2)
    below = _run(model, noise, make_procedure(margin * truth.WELL_BELOW), 3)
    reached = (below.predicted == 1) & (below.radius >= margin * truth.WELL_BELOW)
    return _cell(name, law, truth.errors(above, margin), int(reached.sum()))


def _twins() -> list[dict[str, Any]]:
    """The same checks, for procedures that break one rule each."""
    noise, margin, doubt = truth.LAWS["gaussian"], truth.MARGINS["gaussian"], 0.05
    peeking = truth.PeekingFixedBound(radius=margin * truth.JUST_ABOVE, max_samples=truth.N)
    unsure = truth.half_space(margin, doubt)
    found = {
        "selection votes reused": truth.errors(
            _run(truth.half_space(0.0), noise, truth.ReusedVotes(n=truth.N), 4), 0.0
        ),
        "unsure votes filtered": truth.errors(
            _run(unsure, noise, truth.FilteredVotes(n=truth.N), 5, on_nan="count"), margin - doubt
        ),
        "fixed-sample bound looked at every chunk": truth.errors(
            _run(truth.half_space(margin), noise, peeking, 6), margin
        ),
    }
    for name, errors in found.items():
        print(f"unsound: {name}: errors {errors} of {truth.TIMES}", flush=True)
    return [{"twin": n, "errors": e, "error_interval": _interval(e)} for n, e in found.items()]
