"""`quantize`: from a model folder in float32 to one in int8 or bfloat16, a classifier of its own."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import nn

from smoothcert.arguments import check_kind, check_path, check_whole
from smoothcert.data import Dataset
from smoothcert.engines import this_processor
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import (
    CARD_FILE,
    EnsembleCard,
    ModelCard,
    Modules,
    ModuleSource,
    QuantizedEntry,
    load_checkpoint,
    module_source,
    modules_of,
    probe_content,
    probe_digest,
    read_any_card,
    read_graph,
    save_checkpoint,
    save_ensemble,
)
from smoothcert.networks import INT8, PRECISIONS, Probe, QuantizedNetwork
from smoothcert.noise import noise_from
from smoothcert.progress import progress
from smoothcert.seeding import check_seed
from smoothcert.workflows.quantizing.bfloat16_graph import bfloat16_graph
from smoothcert.workflows.quantizing.choices import WAYS, Choices
from smoothcert.workflows.quantizing.float_graph import float_graph
from smoothcert.workflows.quantizing.holdout_figures import HoldoutFigures
from smoothcert.workflows.quantizing.runtimes import Runtime, able_runtimes, refuse_unable

_PROBED = 64  # images
_MOST_PROBED_VALUES = 2**21  # 8 MB: fewer images where these are large


def quantize(
    folder: str | Path,
    dataset: Dataset,
    out: str | Path,
    *,
    precision: str = INT8,
    seven_bits: bool | None = None,
    images: int = 1_000,
    draws: int = 2,
    seed: int | None = None,
    module: Modules = None,
    factories: Sequence[str] = (),
    show_progress: bool | None = None,
) -> ModelCard | EnsembleCard:
    """Write a model folder whose network calculates in int8 or bfloat16; return its card.

    Not the same classifier as the one in float32, whose certificates do not hold for it: certify it as itself. It is
    one ONNX file, made from the whole network, several heads or a denoiser included; of an ensemble every member
    becomes a folder of its own in `out`.

    Args:
        folder: of a model or an ensemble in float32.
        dataset: labelled images that set ranges and choose between ways: the model's hold-out, not a test split.
        out: folder to write; made if missing.
        precision: "int8" or "bfloat16".
        seven_bits: int8 weights in half of their range, for processors without VNNI, which saturate; by default where
            this processor is one.
        images: use the first so many.
        draws: noisy copies of each, under the model's own noise.
        seed: of that noise; None draws one and records it.
        module: for networks of the user's own code, as for `load_model`.
        factories: names of factories that the folder's card names and that may run.
        show_progress: None shows it on a terminal only.
    """
    source, home = check_path("folder", folder), check_path("out", out)
    check_kind("dataset", dataset, Dataset, "a smoothcert Dataset, load_dataset(name, 'holdout')")
    check_whole("images", images, 1, what="a positive integer")
    check_whole("draws", draws, 1, what="a positive integer")
    if precision not in PRECISIONS:
        raise InvalidArgumentError(f"precision must be one of {', '.join(PRECISIONS)}, got {precision!r}")
    if seven_bits and precision != INT8:
        raise InvalidArgumentError(f"seven_bits is about int8, but precision is {precision!r}; leave it out")
    if precision != INT8:  # which ONNX Runtime has anywhere
        refuse_unable(precision)
    how: dict[str, Any] = {
        "dataset": dataset,
        "precision": precision,
        "seven_bits": precision == INT8
        and (this_processor().int8 is False if seven_bits is None else seven_bits),
        "images": images,
        "draws": draws,
        "seed": check_seed(seed),
        "shown": show_progress,
        "modules": module_source(modules_of(module, factories)),
    }
    card = _any(source, home, how)
    how["modules"].refuse_unasked(source)
    return card


def _any(source: Path, home: Path, how: dict[str, Any]) -> ModelCard | EnsembleCard:
    card = read_any_card(source)
    if not isinstance(card, EnsembleCard):
        return _network(source, home, **how)
    if card.heads is not None:
        raise InvalidArgumentError(
            f"{source} is an ensemble of the heads of one network, which an ONNX file cannot keep apart; quantise "
            f"{source / card.members[0].path}, whose heads vote softly"
        )
    members = []
    for number, member in enumerate(card.members):
        place = home / f"member-{number}"
        _any(source / member.path, place, how)
        members.append(place)
    return save_ensemble(
        members,
        home,
        rule=card.rule,
        weights=card.weights,
        early_exit=card.early_exit,
        fitted=card.fitted,
    )


def _network(
    source: Path,
    home: Path,
    *,
    dataset: Dataset,
    precision: str,
    seven_bits: bool,
    images: int,
    draws: int,
    seed: int,
    shown: bool | None,
    modules: ModuleSource,
) -> ModelCard:
    if os.path.lexists(home / CARD_FILE):
        raise CheckpointError(f"{home} already holds a model; choose another folder or remove it")
    model, card = load_checkpoint(source, modules)
    _refuse_other_images(source, card, dataset)
    noise = noise_from(dict(card.noise)).for_shape(tuple(card.input_shape))
    with progress(f"quantising {source}", WAYS + 2, shown=shown) as show:
        graph = float_graph(model, dataset.image(0), str(source))
        show(1, "exported")
        figures = HoldoutFigures(model, noise, dataset, images=images, draws=draws, seed=seed)
        read = partial(read_graph, input_shape=card.input_shape, num_classes=card.num_classes)
        entry: dict[str, Any] = {"candidates": (), "chosen": None}
        if precision == INT8:
            choices = Choices(
                graph,
                figures,
                read,
                seven_bits=seven_bits,
                on_measured=lambda done: show(done + 1, "ways measured"),
            )
            entry["chosen"], content = choices.best()
            entry["candidates"] = tuple(choices.candidates)
        else:
            content = bfloat16_graph(graph)
        network, runtimes = _proven(content, precision, figures, read)
        before, after = figures.of(model), figures.of(_Called(next(iter(runtimes.values())).run))
        show(WAYS + 2, "measured")
    entry |= {
        "precision": precision,
        "original": Path(os.path.relpath(source.resolve(), home.resolve())).as_posix(),
        "original_digest": card.digest,
        "seven_bits": seven_bits,
        "holdout": figures.use,
        "accuracy_before": before.accuracy,
        "accuracy_after": after.accuracy,
        "agreement": after.agreement,
        "runtime": network.runtime,
        "microseconds": {name: round(one.microseconds, 1) for name, one in runtimes.items()},
        "versions": {one.kind.package: one.version for one in runtimes.values()},
        "probe": probe_digest(probe_content(network.probe)),
    }
    changed = {
        "quantized": QuantizedEntry.model_validate(entry),
        "onnx": network.graph.sha256,
        "mean": (),
        "std": (),
        **dict.fromkeys(("heads", "split", "denoised", "code")),
    }
    return save_checkpoint(network, ModelCard.model_validate({**dict(card), **changed}), home)


def _proven(
    content: bytes, precision: str, figures: HoldoutFigures, read: Callable[[bytes], Any]
) -> tuple[QuantizedNetwork, dict[str, Runtime]]:
    """Return the network of an ONNX file with what each engine answers to its probe, and the engines by speed."""
    graph = read(content)
    bare = QuantizedNetwork(graph, precision, Probe(torch.empty(0)), runtime="")
    rows = max(1, min(_PROBED, _MOST_PROBED_VALUES // max(int(torch.tensor(graph.input_shape).prod()), 1)))
    probed = figures.noisy_images("probe", rows)
    runtimes = able_runtimes(bare, probed[0])
    answers = {name: one.run(probed).clone() for name, one in runtimes.items()}
    return QuantizedNetwork(graph, precision, Probe(probed, answers), runtime=next(iter(runtimes))), runtimes


class _Called(nn.Module):
    """A function as a module."""

    def __init__(self, run: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self._run = run
        self.eval()

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return the function's answers."""
        return self._run(batch)


def _refuse_other_images(source: Path, card: ModelCard, dataset: Dataset) -> None:
    shape = tuple(card.input_shape)
    if (dataset.input_shape, dataset.num_classes) != (shape, card.num_classes):
        raise InvalidArgumentError(
            f"{source} tells {card.num_classes} classes of images {shape} apart, but {dataset.name} has "
            f"{dataset.num_classes} of {dataset.input_shape}; give the data set it was trained on"
        )
