"""What a manifest says a run did, as things that can be run; a manifest that says nothing of the kind is refused."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from smoothcert.certificates import PROCEDURES, Plan, Procedure
from smoothcert.data import MOST_CLASSES
from smoothcert.errors import SmoothcertError
from smoothcert.noise import NOISE_LAWS, NoiseLaw, noise_from
from smoothcert.sampling import CHUNK_VOTES, MOST_VOTES, ON_NAN
from smoothcert.seeding import check_seed
from smoothcert.store import FORMAT, Member, plain, refuse_other_packages
from smoothcert.workflows.auditing.report import AuditReport

_VERSIONS = ("smoothcert", "torch", "numpy", "scipy", "python")


@dataclass(frozen=True)
class Terms:
    """What the manifest says the run did, as things that can be run."""

    noise: NoiseLaw
    procedure: Procedure
    plan: Plan
    alpha: float
    seed: int
    num_classes: int
    on_nan: str


def read_terms(manifest: Mapping[str, Any], report: AuditReport) -> Terms | None:
    """Turn the manifest into what it describes; None with a finding if it describes nothing."""
    try:
        _check_kinds(manifest)
        noise = noise_from(dict(manifest["noise"]))
        about = {key: value for key, value in manifest["procedure"].items() if key != "name"}
        procedure = PROCEDURES[manifest["procedure"]["name"]](**about)
        seed = check_seed(int(manifest["seed"]))
        members: list[Member] = [(NOISE_LAWS, noise.law_name), (PROCEDURES, procedure.procedure_name)]
        refuse_other_packages(manifest.get("packages"), members)
        plan = procedure.plan(noise, manifest["alpha"])
    except (SmoothcertError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        report.add_finding("manifest", f"the manifest describes no run ({type(error).__name__}: {error})")
        return None
    expected = {
        "format": FORMAT,
        "chunk_votes": CHUNK_VOTES,
        "norm": noise.norm,
        "seed": str(seed),
        "noise": noise.describe(),
        "procedure": plain(procedure.describe()),
    }
    for text in other_fields({field: manifest[field] for field in expected if field in manifest}, expected):
        report.add_finding("manifest", text)
    classes, on_nan = manifest["num_classes"], manifest["on_nan"]
    return Terms(noise, procedure, plan, manifest["alpha"], seed, classes, on_nan)


def other_fields(stored: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Return a text for every field that is missing, unknown or not written as it should be.

    Not by Python's equality, to which 1, 1.0 and true are one.
    """
    texts = [f"it has a field that no run has: {field!r}" for field in sorted(set(stored) - set(expected))]
    texts += [f"it lacks the field {field!r}" for field in sorted(set(expected) - set(stored))]
    for field, value in expected.items():
        if field in stored and _text(stored[field]) != _text(value):
            texts.append(f"{field} is stored as {_short(stored[field])}, but is {_short(value)}")
    return texts


def _check_kinds(manifest: Mapping[str, Any]) -> None:
    """Raise LookupError, TypeError or ValueError where a field that is used later is missing or of another kind."""
    kinds = {
        "noise": dict,
        "procedure": dict,
        "dataset": dict,
        "versions": dict,
        "indices": list,
        "alpha": float,
    }
    for field, kind in kinds.items():
        if not isinstance(manifest[field], kind):
            raise ValueError(f"{field} is {_short(manifest[field])}, expected a {kind.__name__}")
    texts = {field: manifest[field] for field in ("model", "engine", "seed", "on_nan")}
    texts.update({f"dataset.{part}": manifest["dataset"][part] for part in ("name", "split", "digest")})
    texts.update({f"versions.{name}": manifest["versions"][name] for name in _VERSIONS})
    for field, text in texts.items():
        if not isinstance(text, str):
            raise ValueError(f"{field} is {_short(text)}, expected a text")
    if manifest["on_nan"] not in ON_NAN:
        raise ValueError(f"on_nan is {manifest['on_nan']!r}, expected one of {', '.join(ON_NAN)}")
    if not all(type(index) is int and index >= 0 for index in manifest["indices"]):
        raise ValueError("indices are no list of whole numbers from 0 on")
    classes = manifest["num_classes"]
    if type(classes) is not int or not 2 <= classes <= MOST_CLASSES:
        raise ValueError(
            f"num_classes is {_short(classes)}, expected a whole number from 2 to {MOST_CLASSES}"
        )
    for name, value in manifest["procedure"].items():
        if any(type(votes) is int and votes > MOST_VOTES for votes in (*_listed(value), value)):
            raise ValueError(
                f"procedure.{name} is {_short(value)}, more than the {MOST_VOTES:,} votes there can be"
            )
    source = manifest.get("source", {"kind": "", "name": ""})
    if (
        not isinstance(source, dict)
        or not isinstance(source["kind"], str)
        or not isinstance(source["name"], str)
    ):
        raise ValueError(f"source is {_short(source)}, expected kind and name of a model")
    if manifest["engine"] == "auto":
        raise ValueError("engine is 'auto', expected the one that was chosen")
    if not manifest["indices"]:
        raise ValueError("indices are none")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _short(value: Any) -> str:
    text = f"{len(value)} entries" if isinstance(value, list) and len(value) > 8 else repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
