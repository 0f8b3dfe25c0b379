"""From a model folder to a classifier that can be certified."""

from __future__ import annotations

from pathlib import Path

from smoothcert.arguments import check_path
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.certificates.trained_for import TrainedFor
from smoothcert.ensembles import panel_of
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import EnsembleCard, Modules, load_model, read_any_card, trained_on
from smoothcert.noise import NoiseLaw, noise_from


def load_classifier(
    folder: str | Path, *, noise: NoiseLaw | None = None, module: Modules = None
) -> SmoothedClassifier:
    """Return the smoothed classifier of a checkpoint or ensemble folder.

    Args:
        folder: holds model.json or ensemble.json.
        noise: another law than the one it was trained under.
        module: for a network that is code of the user's own: a module of its class, of which a copy is filled with the
            folder's weights; for an ensemble of several classes a list, as for `load_model`.
    """
    folder = check_path("folder", folder)
    model, card = load_model(folder, module=module)
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


def panel_classifier(
    folder: str | Path, classifier: SmoothedClassifier
) -> tuple[SmoothedClassifier, dict[str, Path]]:
    """Return an ensemble and its members smoothed together, for `certify_panel`, and the folder of each by name.

    Args:
        folder: of the ensemble.
        classifier: what `load_classifier` made of it.
    """
    card = read_any_card(folder)
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
