"""Model folders of models of the user's own: the file or weights copied, what was said about them kept in a card."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from smoothcert.arguments import check_kind, check_path
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.card_fields import UNKNOWN
from smoothcert.folders.checkpoint import save_checkpoint
from smoothcert.folders.code_entry import CodeEntry
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.factory import Scalar
from smoothcert.folders.own.facts import Facts
from smoothcert.folders.own.own_model import OwnModel, load_own
from smoothcert.networks import onnx_of
from smoothcert.noise import NoiseLaw
from smoothcert.on_demand import nn


def import_model(
    model: str | Path,
    out: str | Path,
    *,
    noise: NoiseLaw | None = None,
    arguments: Mapping[str, Scalar] | None = None,
    weights: str | Path | None = None,
    num_classes: int | None = None,
    input_shape: Sequence[int] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    class_names: Sequence[str] | None = None,
) -> ModelCard:
    """Write a model folder of an ONNX file or of a factory's network, and return its card.

    Such a folder can be certified, joined in ensembles and moved like any other. Not a copy of code: a factory's folder
    holds weights, and loading it runs the factory only for who names it again (`factories`).

    Args:
        model: "net.onnx", "package.module:factory" or "path/file.py:factory"; the last two run that code now.
        out: folder to write; made if missing.
        noise: the law it was trained under; that of the weights' folder by default.
        arguments: of the factory, by name.
        weights: safetensors or torch file, or model folder, whose weights the factory's network gets.
        num_classes: number of classes; counted where it is left out.
        input_shape: shape of one image, where the model does not say.
        mean: per channel, in pixel units, of a normalisation to put in front; left out for a model that takes pixels.
        std: likewise.
        class_names: one name per class; numbers by default.
    """
    facts = Facts.checked(
        arguments=arguments,
        weights=weights,
        num_classes=num_classes,
        input_shape=input_shape,
        mean=mean,
        std=std,
        class_names=class_names,
    )
    return save_own(load_own(model, facts), check_path("out", out), noise)


def save_own(own: OwnModel, out: Path, noise: NoiseLaw | None) -> ModelCard:
    """Write the folder of a model that was loaded; arguments as for `import_model`."""
    check_kind("the model", own.model, nn.Module, "a torch module or an ONNX file to be kept in a folder")
    return save_checkpoint(own.model, own_card(own, noise), out)


def own_card(own: OwnModel, noise: NoiseLaw | None) -> ModelCard:
    """Return the card of a model of the user's own; what nobody told is "unknown"."""
    facts, before = own.facts, own.card
    if noise is None and before is None:
        raise InvalidArgumentError(
            f"noise is needed: {own.name} does not say under which it was trained; give it, such as Gaussian(0.25) "
            "(--sigma 0.25)"
        )
    assert facts.num_classes is not None
    assert facts.input_shape is not None
    graph = onnx_of(own.model)
    code = None if own.factory is None else CodeEntry.of(own.network, str(own.factory), facts.arguments)
    return ModelCard(
        architecture="onnx" if code is None else type(own.network).__name__,
        num_classes=facts.num_classes,
        input_shape=facts.input_shape,
        mean=_numbers(facts.mean),
        std=_numbers(facts.std),
        method=UNKNOWN if before is None else before.method,
        noise=noise.describe() if noise is not None else dict(before.noise if before else {}),
        dataset={"name": UNKNOWN, "digest": ""} if before is None else before.dataset,
        training={} if before is None else before.training,
        metrics={} if before is None else before.metrics,
        class_names=facts.class_names or tuple(str(number) for number in range(facts.num_classes)),
        code=code,
        onnx=None if graph is None else graph.graph.sha256,
    )


def _numbers(values: Sequence[float] | None) -> tuple[float, ...]:
    return tuple(float(value) for value in values or ())
