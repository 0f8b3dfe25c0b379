"""From a model folder, an ONNX file or a factory to a classifier that can be certified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from smoothcert.arguments import check_path
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.certificates.trained_for import TrainedFor
from smoothcert.ensembles import panel_of
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import (
    EnsembleCard,
    Facts,
    Modules,
    is_own,
    load_model,
    load_own,
    read_any_card,
    refuse_no_model,
    trained_on,
)
from smoothcert.noise import NoiseLaw, noise_from


def load_classifier(
    folder: str | Path,
    *,
    noise: NoiseLaw | None = None,
    module: Modules = None,
    factories: Sequence[str] = (),
    arguments: Mapping[str, Any] | None = None,
    weights: str | Path | None = None,
    num_classes: int | None = None,
    input_shape: Sequence[int] | None = None,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    class_names: Sequence[str] | None = None,
) -> SmoothedClassifier:
    """Return the smoothed classifier of a model folder, an ensemble folder, an ONNX file or a factory.

    A factory is Python code of the user's own: naming it here runs it. Nothing else does; of a folder whose card names
    a factory, only one that `factories` names again. The last seven arguments are for files and factories, of which no
    card says it.

    Args:
        folder: holds model.json or ensemble.json; or "net.onnx", "package.module:factory", "path/file.py:factory".
        noise: another law than the one it was trained under; needed where no card says one.
        module: for a folder whose network is code of the user's own: a module of its class, of which a copy is filled
            with the folder's weights; for an ensemble of several classes a list, as for `load_model`.
        factories: names of factories that the folder's card names and that may run.
        arguments: of the factory, by name; plain values.
        weights: safetensors file, torch file (read as tensors and nothing else) or model folder, whose weights the
            factory's network gets.
        num_classes: number of classes; counted by asking the model where it is left out.
        input_shape: shape of one image, such as (3, 32, 32), where the model does not say.
        mean: per channel, in pixel units, of a normalisation to put in front; left out for a model that takes pixels.
        std: likewise.
        class_names: one name per class.
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
    place = check_path("folder", folder)
    if is_own(place):
        return _of_own(place, facts, noise, module, factories)
    refuse_no_model(place)
    facts.refuse_all(f"is for ONNX files and factories, but {place} has a card that says it; leave it out")
    return _of_folder(place, noise, module, factories)


def _of_folder(
    folder: Path, noise: NoiseLaw | None, module: Modules, factories: Sequence[str]
) -> SmoothedClassifier:
    model, card = load_model(folder, module=module, factories=factories)
    own = noise_from(dict(card.noise))
    classifier = SmoothedClassifier(
        model,
        noise=own if noise is None else noise,
        num_classes=card.num_classes,
        input_shape=tuple(card.input_shape),
        class_names=tuple(card.class_names),
        folder=folder,
    )
    classifier.fitted = getattr(card, "fitted", ())
    classifier.trained_for = TrainedFor(trained_on(folder, card), own, tuple(card.class_names))
    return classifier


def _of_own(
    model: Path, facts: Facts, noise: NoiseLaw | None, module: Modules, factories: Sequence[str]
) -> SmoothedClassifier:
    if module is not None or factories:
        raise InvalidArgumentError(
            f"module and factories are for model folders, but {model} is none; leave them out"
        )
    loaded = load_own(model, facts)
    known, card = loaded.facts, loaded.card
    if noise is None and card is None:
        raise InvalidArgumentError(
            f"noise is needed: {loaded.name} does not say under which it was trained; give it, such as "
            "noise=Gaussian(0.25) (--sigma 0.25)"
        )
    trained = None if card is None else noise_from(dict(card.noise))
    assert known.num_classes is not None
    law = trained if noise is None else noise
    assert law is not None
    classifier = SmoothedClassifier(
        loaded.model,
        noise=law,
        num_classes=known.num_classes,
        input_shape=known.input_shape,
        class_names=known.class_names,
        folder=loaded.place,
    )
    classifier.source, classifier.weights = loaded.source, known.weights
    if card is not None and trained is not None and known.weights is not None:
        classifier.trained_for = TrainedFor(trained_on(known.weights, card), trained, tuple(card.class_names))
    return classifier


def panel_classifier(
    folder: str | Path, classifier: SmoothedClassifier
) -> tuple[SmoothedClassifier, dict[str, Path]]:
    """Return an ensemble and its members smoothed together, for `certify_panel`, and the folder of each by name.

    Args:
        folder: of the ensemble.
        classifier: what `load_classifier` made of it.
    """
    card = None if is_own(folder) else read_any_card(folder)
    panel = panel_of(classifier.model)
    if not isinstance(card, EnsembleCard) or panel is None:
        raise InvalidArgumentError(
            f"{folder} has no members of its own that could be certified beside it; give an ensemble of model folders"
        )
    together = SmoothedClassifier(
        panel,
        noise=classifier.noise,
        num_classes=classifier.num_classes,
        input_shape=classifier.input_shape,
        class_names=classifier.class_names,
    )
    together.fitted, together.trained_for = classifier.fitted, classifier.trained_for
    folders = [Path(folder) / member.path for member in card.members]
    return together, dict(zip(panel.names, [*folders, Path(folder)], strict=True))
