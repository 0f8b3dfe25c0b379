"""The model of a run that no folder describes: an ONNX file, or what a factory builds where the user lets it run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.errors import InvalidArgumentError, StoreError
from smoothcert.folders import FactoryName, Facts, allowed, check_factories, load_onnx, load_own, told_places
from smoothcert.workflows.auditing.report import AuditReport

Origin = Mapping[str, str]


def own_model(
    source: Mapping[str, Any],
    manifest: Mapping[str, Any],
    run: Path,
    origin: Origin,
    given: str | Path | None,
    report: AuditReport,
    factories: Sequence[str],
) -> Any:
    """Return the model that a run's manifest says how to make, or None with a note that says why there is none.

    Args:
        source: what the manifest says about it.
        manifest: of the run.
        run: the run folder, from which noted places are seen.
        origin: the places that the run noted.
        given: the file or factory by the user's word; None for what the run says.
        report: told why there is none.
        factories: that may run.
    """
    told = {
        "num_classes": manifest["num_classes"],
        "input_shape": manifest["input_shape"],
        "mean": source.get("mean"),
        "std": source.get("std"),
    }
    if source["kind"] != "factory":
        file = _file(run, origin, given, report)
        # As an ONNX file whatever its name: what a run says is never taken for the name of a factory.
        return None if file is None else load_onnx(file, Facts.checked(**told)).model
    factory = _factory(source, given, report, factories)
    places = told_places(source.get("arguments") or {})
    if factory is not None and places is not None:
        report.note(
            f"the run would call {factory} with {places}, which may name other code or files, so it was not built; "
            "load it yourself and audit in Python: smoothcert.audit(run, model=load_classifier(factory, arguments=..))"
        )
        return None
    weights = _weights(source, run, origin, report) if "weights" in source else None
    if factory is None or ("weights" in source and weights is None):
        return None
    return load_own(factory, Facts.checked(**told, arguments=source.get("arguments"), weights=weights)).model


def _factory(
    source: Mapping[str, Any], given: str | Path | None, report: AuditReport, factories: Sequence[str]
) -> str | None:
    """Return the factory that the user lets run; a run's word alone runs nothing."""
    if given is not None:
        if FactoryName.read(given) is None:
            raise StoreError(f"--model must name the factory {source['name']}, got {given}")
        return str(given)
    try:
        name = allowed(str(source["name"]), check_factories(factories))
    except InvalidArgumentError as error:  # the user's to put right, and no finding about the run
        raise StoreError(str(error)) from error
    if name is None:
        report.note(
            f"its model is built by {source['name']}, which runs if you say so: --factory {source['name']}"
        )
        return None
    return str(name)


def _file(run: Path, origin: Origin, given: str | Path | None, report: AuditReport) -> Path | None:
    if given is None and "model" not in origin:
        report.note("the run does not say where its model is; give it with --model FILE")
        return None
    path = Path(given) if given is not None else run / origin["model"]
    if path.is_file():
        return path
    if given is not None:
        raise StoreError(f"there is no file {path}; give the ONNX file that was certified")
    report.note(f"its model is no longer at {path.resolve()}; give the file with --model")
    return None


def _weights(source: Mapping[str, Any], run: Path, origin: Origin, report: AuditReport) -> Path | None:
    path = run / origin["weights"] if "weights" in origin else None
    if path is None or not path.exists():
        where = "not noted" if path is None else f"no longer at {path.resolve()}"
        report.note(f"the place of its weights {source['weights']!r} is {where}; put them back")
        return None
    return path
