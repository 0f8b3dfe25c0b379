"""The manifest: everything that decides a run's votes and certificates, and the refusal of any change."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smoothcert import certificates
from smoothcert.certificates import PROCEDURES
from smoothcert.data import Dataset
from smoothcert.engines import ENGINES, versions_for
from smoothcert.errors import ManifestMismatchError
from smoothcert.noise import NOISE_LAWS
from smoothcert.sampling import CHUNK_VOTES
from smoothcert.store.packages import packages_of

FORMAT = 1
_MISSING = "nothing"


def make_manifest(
    certification: certificates.Certification, dataset: Dataset, indices: Sequence[int]
) -> dict[str, Any]:
    """Return what identifies a run: equal manifests give equal votes and certificates.

    Batch size and workers are not in it, because no vote depends on them.

    Args:
        certification: classifier, noise, procedure, alpha and seed.
        dataset: where the images come from.
        indices: images of the run, in the data set's numbering.
    """
    engine, noise, procedure = certification.engine, certification.law, certification.procedure
    packages = packages_of(
        [(ENGINES, engine.registered_name), (NOISE_LAWS, noise["name"]), (PROCEDURES, procedure["name"])]
    )
    ensemble, source = certification.ensemble, certification.source
    return {
        "format": FORMAT,
        "model": certification.model,
        **({} if ensemble is None else {"ensemble": plain(ensemble)}),
        **({} if source is None else {"source": plain(source)}),
        "num_classes": engine.num_classes,
        "engine": engine.engine_name,
        **({} if engine.precision is None else {"precision": engine.precision}),
        "noise": noise,
        "norm": certification.noise.norm,
        "procedure": plain(procedure),
        "alpha": certification.alpha,
        "on_nan": certification.on_nan,
        "seed": str(certification.seed),  # as text: other readers of JSON lose digits beyond 2^53
        "chunk_votes": CHUNK_VOTES,
        "dataset": dataset.record,
        "input_shape": list(dataset.input_shape),
        "class_names": list(dataset.class_names),
        "indices": list(indices),
        "versions": versions_for(engine.package),
        **({"packages": packages} if packages else {}),
    }


def plain(value: Any) -> Any:
    """Return a value as JSON would give it back: tuples as lists."""
    if isinstance(value, Mapping):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return value


def check_same(
    stored: Mapping[str, Any], wanted: Mapping[str, Any], where: str, doing: str = "resume"
) -> None:
    """Refuse to continue a run under another manifest, naming every field that differs."""
    differing = differences(stored, wanted)
    if differing:
        state = ""
        if stored.get("model") != wanted.get("model"):
            state = " (one that keeps something when it is called is another model afterwards: load it anew)"
        raise ManifestMismatchError(
            f"cannot {doing} {where}: {'; '.join(differing)}{state}; use the same settings or start a new run elsewhere"
        )


def differences(
    stored: Mapping[str, Any], wanted: Mapping[str, Any], text: str = "{} was {} and is now {}"
) -> list[str]:
    """Return a text for every field that differs between two manifests.

    Args:
        stored: one of them.
        wanted: the other.
        text: sentence with places for the field and both values.
    """
    return [
        text.format(field, _short(one), _short(other)) for field, one, other in _pairs("", stored, wanted)
    ]


def _pairs(prefix: str, stored: Any, wanted: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(stored, Mapping) and isinstance(wanted, Mapping):
        for key in {**stored, **wanted}:
            yield from _pairs(f"{prefix}{key}.", stored.get(key, _MISSING), wanted.get(key, _MISSING))
    elif stored != wanted:
        yield prefix.rstrip("."), stored, wanted


def _short(value: Any) -> str:
    text = f"{len(value)} entries" if isinstance(value, list) and len(value) > 8 else repr(value)
    return text if len(text) <= 60 else f"{text[:28]}...{text[-29:]}"  # both ends: either may be what differs
