"""The command that repeats a run: the same votes on the same images, from what its manifest says."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.certificates import PROCEDURES
from smoothcert.data import DATASETS
from smoothcert.noise import noise_from
from smoothcert.options import Option
from smoothcert.store import Run, RunStatus

_LONGEST = 2_000  # letters of a list of images


def repeat_command(run: Run) -> str | None:
    """Return a command line that draws the votes of a run again; None for a run that only Python can repeat.

    Not a check of the run, which `smoothcert audit` is. Words in capitals stand for what the run does not tell.

    Args:
        run: any run; paths are those that it noted.
    """
    manifest = run.manifest
    words = _settings(manifest, run.places)
    if words is None or "norm_of_noise" in manifest:
        return None
    words += ["--seed", manifest["seed"], "--engine", _engine(manifest), "--out", f"{run.name}-again"]
    return _line(words)


def resume_command(status: RunStatus) -> str | None:
    """Return a command line that continues a stored run; None for one that only Python can continue, or one too long.

    Seed and engine are not told: they are in the run.

    Args:
        status: of the run.
    """
    end = ["--out", _told(status.folder.resolve()), "--resume"]
    if status.shard is None:
        words = _settings(status.manifest, status.places)
        return None if words is None else _line([*words, *end])
    source = status.manifest.get("source") or {}
    model = [source["name"]] if source.get("kind") == "factory" else []
    plan = _told(status.places.get("plan", Path("PLAN")))
    return _line(["smoothcert", "certify", *model, "--from", plan, "--shard", status.shard, *end])


def _settings(manifest: Mapping[str, Any], places: Mapping[str, Path]) -> list[str] | None:
    """Return the words for model, images, noise, procedure and alpha; None where a command line cannot say them."""
    model, images = _model_words(manifest, places), _image_words(manifest, places)
    if model is None or images is None or manifest["on_nan"] != "raise":
        return None
    law = noise_from(dict(manifest["noise"]))
    procedure = PROCEDURES[manifest["procedure"]["name"]]
    words = ["smoothcert", "certify", *model, *images, "--noise", law.law_name]
    words += _option_words(law.options(), {**manifest["noise"], **law.option_values()})
    words += ["--procedure", procedure.procedure_name]
    words += _option_words(procedure.options(), manifest["procedure"])
    return [*words, "--alpha", repr(manifest["alpha"])]


def _line(words: Sequence[str]) -> str | None:
    return shlex.join(words) if all(word.isprintable() for word in words) else None


def _engine(manifest: Mapping[str, Any]) -> str:
    return str(manifest["engine"]).partition(" ")[0]


def _model_words(manifest: Mapping[str, Any], places: Mapping[str, Path]) -> list[str] | None:
    """Return what names the model; None for one that was given in Python or needs more than its name."""
    source = manifest.get("source")
    if source is None:
        return [_told(places["model"])] if "model" in places else ["MODEL"]
    if source.get("arguments") or source.get("mean") is not None or source.get("std") is not None:
        return None
    named = source["name"] if source["kind"] == "factory" else _told(places.get("model", Path("MODEL")))
    return [str(named), *(["--weights", _told(places["weights"])] if "weights" in places else [])]


def _image_words(manifest: Mapping[str, Any], places: Mapping[str, Path]) -> list[str] | None:
    """Return what names the images; None for arrays that were in memory, or a list too long for a command."""
    dataset, folder = manifest["dataset"], places.get("data_dir")
    if dataset["name"] in DATASETS:
        words = ["--dataset", dataset["name"]]
        words += [] if folder is None else ["--data-dir", _told(folder)]
    elif folder is not None:  # a file of the user's own, named after itself
        words = ["--dataset", _told(folder)]
    else:
        return None
    listed = indices_text(manifest["indices"])
    if len(listed) > _LONGEST:
        return None
    split = [] if dataset["split"] == "test" else ["--split", dataset["split"]]
    return [*words, *split, "--indices", listed]


def _told(place: Path) -> str:
    """Return a place as seen from the current folder, if it is in it: others need not know where that is."""
    here = Path.cwd()
    return str(place.relative_to(here) if place.is_relative_to(here) else place)


def indices_text(indices: Sequence[int]) -> str:
    """Return places of images as `--indices` takes them: A:B and A:B:K where they go in even steps."""
    parts, start = [], 0
    while start < len(indices):
        stop, step = start + 1, 1
        if stop < len(indices):
            step = indices[stop] - indices[start]
            while stop < len(indices) and indices[stop] - indices[stop - 1] == step > 0:
                stop += 1
        if stop - start < 3:
            parts.append(str(indices[start]))
            start += 1
            continue
        end = indices[stop - 1] + 1
        parts.append(f"{indices[start]}:{end}" if step == 1 else f"{indices[start]}:{end}:{step}")
        start = stop
    return ",".join(parts)


def _option_words(options: Iterable[Option], values: Mapping[str, Any]) -> list[str]:
    """Return options by the values of their fields; what is not set, or a switch that is off, is left out."""
    words = []
    for option in options:
        value = values.get(option.field, values.get(option.name))
        if value is None or value is False:
            continue
        name = f"--{option.name}"
        if value is True:
            words.append(name)
        elif isinstance(value, list | tuple):
            words += [name, ",".join(map(repr, value))]
        else:
            words += [name, value if isinstance(value, str) else repr(value)]
    return words
