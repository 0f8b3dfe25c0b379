"""From a published checkpoint to a model folder."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_kind, check_path, check_switch
from smoothcert.data import DATASETS
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders.checkpoint import CARD_FILE, save_checkpoint
from smoothcert.folders.checkpoints.building import Found, built_denoiser, built_network
from smoothcert.folders.checkpoints.content import Content, read_content
from smoothcert.folders.checkpoints.family import FAMILIES, Numbers
from smoothcert.folders.checkpoints.layout import Placed, placed
from smoothcert.folders.checkpoints.matching import fitting_families, refuse_other_name
from smoothcert.folders.checkpoints.normalising import Told, chosen_numbers
from smoothcert.folders.checkpoints.prefixes import Unwrapped, unwrapped
from smoothcert.folders.checkpoints.tensors import counters_missing, entries_of
from smoothcert.folders.model_card import ModelCard
from smoothcert.noise import NoiseLaw
from smoothcert.visible import visible


def import_checkpoint(
    file: str | Path,
    out: str | Path,
    *,
    noise: NoiseLaw,
    dataset: str | None = None,
    family: str | None = None,
    arch: str | None = None,
    num_classes: int | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    normalize: bool = True,
    classifier: str | Path | None = None,
) -> ModelCard:
    """Turn a checkpoint that a paper published into a model folder; returns its card, which says what was dropped.

    Not a training, and no code of the file is run. What the file does not say is asked for, never guessed; weights
    without a place, and a file that contradicts what is said of it, are refused.

    Args:
        file: a torch file (of any age) or a safetensors file of weights.
        out: folder to write; made if missing.
        noise: law that the network was trained under.
        dataset: name of the data set trained on; its numbers normalise, its classes have names.
        family: a name in `FAMILIES`: whose checkpoint it is; the file tells by default.
        arch: which network, by our name or the family's; the weights tell by default.
        num_classes: of the network, to be compared with its last layer.
        mean: per channel, in pixel units, where neither file nor family says it.
        std: likewise; 1 where images were only centred.
        normalize: False for a network that takes images as they are.
        classifier: model folder of the classifier behind a denoiser.
    """
    path, target = check_path("file", file), check_path("out", out)
    check_kind("noise", noise, NoiseLaw, "a noise law such as sc.Gaussian(0.25)")
    told = Told(mean, std, check_switch("normalize", normalize))
    if dataset is not None:
        DATASETS[dataset]  # an unknown name is answered with the known ones
    if os.path.lexists(target / CARD_FILE):
        raise CheckpointError(f"{target} already holds a model; choose another folder or remove it")
    content = read_content(path)
    weights = unwrapped(content.tensors)
    entries = entries_of(weights.tensors, str(path))
    place = placed(entries, str(path))
    refuse_other_name(str(path), content.arch, arch, place)
    families = fitting_families(content, weights, place, content.arch if arch is None else arch, family)
    record = _record(path, content, weights, place, families)
    found = Found(str(path), place, entries, weights.tensors, noise.describe(), dataset, record)
    if place.size is not None:
        model, card = built_denoiser(found, _needed(classifier, told), target)
    else:
        if classifier is not None:
            raise InvalidArgumentError(f"classifier is for denoisers, and {path} is a network; leave it out")
        numbers = _normalise(found, weights, told, families)
        model, card = built_network(found, numbers, num_classes)
    return save_checkpoint(model, card, target)


def _normalise(found: Found, weights: Unwrapped, told: Told, families: list[str]) -> Numbers:
    """Choose mean and std, and put into the record where they come from."""
    data = None if found.dataset is None else DATASETS[found.dataset]
    record = found.training["imported"]
    numbers, origin = chosen_numbers(found.source, told, weights.buffers, families, data)
    record["normalisation"] = origin
    if data is not None and len(families) > 1:
        kinds = {name: FAMILIES[name].normalisation.numbers(data) for name in families}
        record["families"] = [name for name in families if kinds[name] == numbers] or families
    return numbers


def _needed(classifier: str | Path | None, told: Told) -> str | Path:
    """Return the classifier behind a denoiser; refuse its absence, and numbers that are the classifier's own."""
    if classifier is None:
        raise InvalidArgumentError(
            "the file holds a denoiser; say which classifier stands behind it: --classifier FOLDER (classifier=), a "
            "model folder, which may be imported too"
        )
    if told.numbers() is not None:
        raise InvalidArgumentError(
            "a denoiser takes images as they are, and its classifier normalises; leave mean, std and no-normalize out"
        )
    return classifier


def _record(
    path: Path, content: Content, weights: Unwrapped, place: Placed, families: list[str]
) -> dict[str, Any]:
    """Return what the card says of the import, in place of a training's settings."""
    added = len(counters_missing(place))
    notes = [FAMILIES[name].note for name in families if FAMILIES[name].note and len(families) == 1]
    if added:
        notes.append(f"{added} counters of batches were not in the file and are 0; no answer depends on them")
    if any(tensor.dtype.itemsize == 2 for tensor in weights.tensors.values()):
        notes.append("16-bit weights are kept as the same numbers in 32 bits")
    if place.variance_offset:
        notes.append(
            f"variances of batch norms are larger by {place.variance_offset:.0e}, for our smaller epsilon"
        )
    held = min((FAMILIES[name].holdout for name in families), default=0)
    return {
        # Of images that a network has learnt none may choose weights of ensembles.
        "holdout": held or "none",
        **({} if content.epoch is None else {"epochs": content.epoch}),
        "imported": {
            "file": visible(path.name),
            "sha256": _sha256(path),
            "families": families,
            "called": content.arch,
            "tensors": len(place.names),
            "prefixes": list(weights.taken),
            "dropped": list(content.dropped),
            "notes": notes,
        },
    }


def _sha256(path: Path) -> str:
    """Return the digest of a file of any size."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
