"""A model of the user's own, loaded: of an ONNX file, or built by a factory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from smoothcert.errors import CheckpointError, FactoryError, InvalidArgumentError
from smoothcert.folders.model_card import ModelCard
from smoothcert.folders.own.factory import build
from smoothcert.folders.own.factory_name import FactoryName
from smoothcert.folders.own.facts import Facts, check_normalisation
from smoothcert.folders.own.folder_weights import fill_from_folder
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.folders.own.state_dict import fill, read_state
from smoothcert.networks import MIN_ROWS, OnnxNetwork, answer_of, as_logits, with_normalisation
from smoothcert.on_demand import nn, torch
from smoothcert.reading import kind_of

ONNX_ENDING = ".onnx"


@dataclass(frozen=True)
class OwnModel:
    """A classifier that no model folder describes, and what is known about it.

    Args:
        model: from a batch of images to logits.
        facts: all that is known, shape and classes included.
        place: the ONNX file or the Python file; None for a factory of a package.
        factory: its name; None for an ONNX file.
        card: of the model folder that the weights are from; None for none.
        network: what the factory built, without what was put before it.
    """

    model: Any
    facts: Facts
    place: Path | None
    factory: FactoryName | None = None
    card: ModelCard | None = None
    network: Any = None

    @property
    def kind(self) -> str:
        """What it is, in a word."""
        return "onnx" if self.factory is None else "factory"

    @property
    def name(self) -> str:
        """The file's name, or the factory's, without the folders above."""
        if self.factory is not None:
            return self.factory.short
        return "" if self.place is None else self.place.name

    @property
    def source(self) -> dict[str, Any]:
        """What a run's manifest says about where the model is from: enough to build it again, with permission."""
        facts = self.facts
        told: dict[str, Any] = {"kind": self.kind, "name": self.name}
        if facts.arguments:
            told["arguments"] = dict(facts.arguments)
        if facts.weights is not None:
            told["weights"] = facts.weights.name
        if facts.mean is not None and facts.std is not None and self.card is None:
            told["mean"], told["std"] = list(facts.mean), list(facts.std)
        return told


def is_own(model: str | Path) -> bool:
    """Return whether a text names an ONNX file or a factory, and not a folder."""
    if kind_of(Path(model)) == "folder":
        return False
    return str(model).endswith(ONNX_ENDING) or FactoryName.read(model) is not None


def load_own(model: str | Path, facts: Facts) -> OwnModel:
    """Read an ONNX file, or run the factory that the user named; refuse what is no classifier.

    Args:
        model: the file, or the factory's name, by the user's word alone: never what a file says.
        facts: what is said about it.
    """
    name = FactoryName.read(model)
    loaded = load_onnx(Path(model), facts) if name is None else _of_factory(name, facts)
    loaded.facts.refuse_names(loaded.facts.num_classes)
    return loaded


def load_onnx(path: Path, facts: Facts) -> OwnModel:
    """Read an ONNX file, whatever it is called; runs no factory.

    Args:
        path: of the file.
        facts: what is said about it.
    """
    check_normalisation(facts.mean, facts.std)
    facts.refuse_all("is for factories; an ONNX file has its weights in it", "arguments", "weights")
    graph = read_onnx(path, input_shape=facts.input_shape, num_classes=facts.num_classes)
    known = replace(facts, input_shape=graph.input_shape, num_classes=graph.num_classes)
    return OwnModel(OnnxNetwork(graph, facts.mean, facts.std), known, path)


def _of_factory(name: FactoryName, facts: Facts) -> OwnModel:
    check_normalisation(facts.mean, facts.std)
    from_folder = facts.weights is not None and kind_of(facts.weights) == "folder"
    if facts.input_shape is None and not from_folder:
        raise InvalidArgumentError(
            f"input_shape is needed: {name} does not say which images its network takes; give it, such as "
            "(3, 32, 32) (--input-shape 3,32,32)"
        )
    model = build(name, facts.arguments)
    network, card = model, None
    if not isinstance(model, nn.Module):
        facts.refuse_all(
            f"is for torch modules, and {name} returned a {type(model).__name__}", "weights", "mean", "std"
        )
    elif from_folder and facts.weights is not None:
        model, card = fill_from_folder(model, facts.weights)
        facts = _with_card(facts, card)
    elif facts.weights is not None:
        fill(model, read_state(facts.weights), str(facts.weights))
    assert facts.input_shape is not None
    if card is None and facts.mean is not None and isinstance(model, nn.Module):
        model = with_normalisation(model, facts.input_shape, facts.mean, facts.std).eval()
    classes = _classes(model, name, facts)
    return OwnModel(model, replace(facts, num_classes=classes), name.file, name, card, network)


def _with_card(facts: Facts, card: ModelCard) -> Facts:
    """Return what the card of the weights says, where the user says nothing or the same."""
    told: dict[str, Any] = {
        "num_classes": card.num_classes,
        "input_shape": tuple(card.input_shape),
        "mean": tuple(card.mean) or None,
        "std": tuple(card.std) or None,
        "class_names": tuple(card.class_names),
    }
    for name, value in told.items():
        if getattr(facts, name) not in (None, value):
            raise InvalidArgumentError(
                f"{name} is {getattr(facts, name)}, but the card in {facts.weights} says {value}; leave it out"
            )
    return replace(facts, **told)


def _classes(model: Any, name: FactoryName, facts: Facts) -> int:
    """Return the number of logits that a model answers black images with, which must be that of the classes."""
    assert facts.input_shape is not None
    try:
        with torch.inference_mode():
            answer = as_logits(answer_of(model, torch.zeros(MIN_ROWS, *facts.input_shape)), MIN_ROWS)
    except Exception as error:  # the user's own code
        reason = " ".join(str(error).split())[:160]
        raise FactoryError(
            f"the model of {name} raised {type(error).__name__} on {MIN_ROWS} images of shape {facts.input_shape}: "
            f"{reason}; is that the shape of its images?"
        ) from error
    shape = tuple(answer.shape)
    if len(shape) != 2 or shape[0] != MIN_ROWS or shape[1] < 2:
        raise FactoryError(
            f"the model of {name} answers {MIN_ROWS} images with {shape}; it must answer with one row of logits for "
            "each"
        )
    if facts.num_classes not in (None, shape[1]):
        raise InvalidArgumentError(
            f"num_classes is {facts.num_classes}, but the model of {name} answers with {shape[1]} logits"
        )
    return int(shape[1])


def refuse_no_model(model: str | Path) -> None:
    """Refuse a text that names neither a folder nor a file nor a factory, by what it could have been."""
    kind = kind_of(Path(model))
    if kind == "file":
        raise CheckpointError(
            f"{model} is a file, but no ONNX file; a model is a folder, net.onnx, or a factory path/file.py:factory "
            "(its weights with --weights)"
        )
