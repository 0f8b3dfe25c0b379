"""Training of a user's own module on a user's own images, by the loop that trains recipes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from torch import nn

from smoothcert.arguments import check_switch
from smoothcert.certificates import SmoothedClassifier, TrainedFor
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import CARD_FILE
from smoothcert.noise import NoiseLaw
from smoothcert.training.epochs import OnEpoch
from smoothcert.training.launching import Trained, Where, launch
from smoothcert.training.materials import Materials
from smoothcert.training.objective import Objective
from smoothcert.training.own.augment import Augment, augmenting_of
from smoothcert.training.own.images import Holdout, training_and_holdout
from smoothcert.training.own.module import OwnModule
from smoothcert.training.own.settings import own_config
from smoothcert.training.train import BEST, check_out, finished, write_model


def fit(
    module: nn.Module | Callable[[], nn.Module],
    dataset: Dataset,
    objective: Objective | str = "gaussian",
    *,
    noise: NoiseLaw,
    holdout: Holdout = None,
    augment: Augment = False,
    mean: Sequence[float] | None = None,
    std: Sequence[float] | None = None,
    class_names: Sequence[str] | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    on_epoch: OnEpoch | None = None,
    accelerator: str = "auto",
    show_progress: bool | None = None,
    **settings: Any,
) -> SmoothedClassifier:
    """Train a torch module of your own on images of your own, and return it smoothed, ready to certify.

    The module itself ends with the weights of the last epoch, in eval mode; a training that fails leaves it as it was.
    The same module, images, settings and seed give the same weights, bit for bit, on one CPU process. Not for networks
    with several heads, several members or a denoiser: those are trained by `train` and `fine_tune`.

    Args:
        module: from a batch of images in [0, 1] to logits (rows, classes); its weights are the start. Or a function, or
            class, that makes one when it is called without arguments: its first weights then follow from the seed.
        dataset: images to train on, of any split but "test".
        objective: a training method, e.g. `Consistency(lbd=5)`, or its name.
        noise: law of the noise, which the model will be certified with.
        holdout: measure on so many of the images after every epoch, and train on the others; or on another data set.
        augment: "crop-flip", or a function from (images, generator) to images, called for every step; False for none.
        mean: per channel, in pixel units, of a first layer that normalises; inside the model, so that radii stay in
            pixel units. None, with `std`, for a module that takes pixels.
        std: likewise.
        class_names: one per class; the data set's own by default.
        out: folder to write the model to, as `train` does; None writes nothing.
        resume: continue the training in `out`, or take it as it is, as for `train`.
        on_epoch: called with the metrics after every epoch.
        accelerator: "auto", "cpu" or "cuda".
        show_progress: None shows it on a terminal only.
        settings: as in `TrainConfig`, whose defaults hold: epochs, lr, batch_size, optimizer, schedule, milestones,
            warmup_epochs, momentum, nesterov, weight_decay, precision, max_train_images, certify_every,
            certify_images, certify_votes, seed.
    """
    train_set, holdout_set = training_and_holdout(dataset, holdout, class_names)
    own = OwnModule(module, train_set, mean, std)
    augmenting, told = augmenting_of(augment)
    config = own_config(settings, own, objective, noise, train_set, holdout, told)
    if out is None and check_switch("resume", resume):
        raise InvalidArgumentError("resume=True continues the training in a folder; say which one by out")
    home = None if out is None else check_out(out, resume)
    if home is not None and (home / CARD_FILE).exists():
        model = finished(home, own.after_training(config, home), train_set, own.source())[0]
    else:
        materials = Materials(train_set, holdout_set, own.first_model, augmenting)
        where = Where(on_epoch, 1, accelerator, show_progress)
        model = launch(config, materials, home, where, _kept, [] if home is None else [home / BEST])
    classifier = SmoothedClassifier(
        own.filled(model),
        noise,
        train_set.num_classes,
        input_shape=train_set.input_shape,
        class_names=train_set.class_names,
        folder=home,
    )
    classifier.trained_for = TrainedFor((train_set.name,), noise, train_set.class_names)
    return classifier


def _kept(trained: Trained, out: Path | None) -> nn.Module:
    """Write the folder, where there is one, and hand the trained model back."""
    if out is not None:
        write_model(trained, out)
    return trained.model
