"""The configuration of one training run."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    ValidationError,
    field_validator,
    model_serializer,
    model_validator,
)

from smoothcert.data import DATASETS, Dataset, held_out, load_dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.fields import Place, Text
from smoothcert.folders import MOST_MEMBERS, FactoryName, drop_unset
from smoothcert.networks import DENOISERS, MODELS, MOST_DEPTH, MOST_HEADS, MOST_WIDTH
from smoothcert.noise import NOISE_LAWS, NoiseLaw, noise_from
from smoothcert.registry import Registry, Table
from smoothcert.seeding import check_seed
from smoothcert.store import packages_of
from smoothcert.training.learning_rate import SCHEDULES
from smoothcert.training.noise_settings import (
    DEFAULT_NOISE,
    noise_of,
    with_checked_noise,
    with_default_noise,
    without_other_noise,
)
from smoothcert.training.objective import OBJECTIVES, Objective, make_objective
from smoothcert.training.own.entry import OwnEntry
from smoothcert.training.setting_rules import refuse_inconsistent, with_data_place, with_default_model
from smoothcert.visible import brief

_REGISTRIES: dict[str, Registry[Any] | Table[Any]] = {
    "dataset": DATASETS,
    "model": MODELS,
    "method": OBJECTIVES,
    "noise": NOISE_LAWS,
    "schedule": SCHEDULES,
}
FLOAT32: Literal["32-true"] = "32-true"
"""The precision that needs no mention."""

_MOST = 10**9  # of anything that is counted in a training

Setting = bool | Annotated[int, Field(ge=-_MOST, le=_MOST)] | float | Text | None


class TrainConfig(BaseModel):
    """All that decides the weights of a trained model; the defaults suit the embedded digits.

    Not a place for speed or output settings. A wrong value raises `InvalidArgumentError`, an unknown name
    `UnknownNameError`. Beside its fields it takes the options of the noise's law, such as `keep` and `levels` of
    discrete replacement.

    Args:
        own: what `fit` records about a module and images that were handed in; `dataset` and `model` are then the names
            of these, and in no registry.
        dataset: name in `DATASETS`; or the path of an .npz file or a folder, which is kept as `data_dir`.
        data_dir: folder of the data set's files, if it is not embedded, or the file.
        model: name in `MODELS`, or in `DENOISERS` for methods that train a denoiser; or a factory of the user's own,
            "path/file.py:make" or "package.module:make", which runs only where `train` is told that it may.
        model_args: what that factory is called with, by name; plain values.
        model_code: fingerprint of what it made; `train` fills it in.
        heads: number of heads on one trunk; None, and then not written, for a plain network.
        split: where the heads begin, for `resolve_split`; None for the default.
        method: name in `OBJECTIVES`.
        settings: the method's hyper-parameters that differ from its defaults, by name.
        noise: name in `NOISE_LAWS`.
        sigma: standard deviation of the noise per coordinate, in pixel units; None for a law that is chosen otherwise.
        epochs: passes over the training split.
        optimizer: "sgd" or "adam".
        lr: largest learning rate.
        schedule: name in `SCHEDULES`.
        milestones: epochs at which the "step" schedule divides the learning rate by ten.
        warmup_epochs: epochs over which attack radii and loss weights rise to their full value; 0 for none.
        batch_size: noisy copies per step (images, for methods that say so), over all processes.
        momentum: of stochastic gradient descent.
        nesterov: Nesterov's form of momentum.
        weight_decay: of the optimiser.
        normalize: whether the network's first layer normalises by the data set's mean and deviation; False for networks
            that were published without.
        augment: random crops and flips as the data set's papers use them; False trains on the images as they are.
        holdout: training images that are held out and measured on after every epoch; "none" trains on all of them, as
            most papers do, and then there is nothing to measure on; None for the usual number (`load_dataset`).
        max_train_images: train on that many images only, chosen by a fixed key; None for all.
        precision: "32-true", or "bf16-mixed" to let torch multiply in bfloat16 where it thinks that safe; weights,
            their updates and measurements stay float32.
        rounding: "int8" or "seven-bits" to train as if weights and inputs of layers were rounded, for a network that is
            to be quantised; the trained weights stay float32.
        start: folder of a trained network of this package whose weights this training begins with; None begins anew.
        certify_every: certify some hold-out images after every so many epochs; 0 for never.
        certify_images: how many of them.
        certify_votes: votes for each.
        seed: 0 .. 2^128 - 1; drawn from the operating system, and recorded, when left out.
        members: folders of the pretrained members that are fine-tuned together, for methods that do so.
        classifier: folder of the classifier that a denoiser is trained for.
        digests: of those members, that classifier or that start; `train` and `fine_tune` fill them in.
        depth: convolutions of a denoiser, if not those of its name.
        width: channels between them, likewise.
        packages: package and version of the method, and of what else another package brings, by kind and name;
            `train` and `fine_tune` fill them in.
        recipe: the recipe that these settings came from, for the record.
        recipe_epochs: epochs of that recipe, where they were changed.
    """

    model_config = ConfigDict(extra="allow", frozen=True, allow_inf_nan=False)

    own: OwnEntry | None = None  # the first, because other fields are checked by it
    dataset: Text = "digits"
    data_dir: Place | None = None
    model: Text = "convnet"
    model_args: dict[Text, Setting] | None = Field(default=None, max_length=100)
    model_code: Text | None = None
    heads: int | None = Field(default=None, ge=1, le=MOST_HEADS, strict=True)
    split: Text | None = None
    method: Text = "gaussian"
    settings: dict[Text, Setting] = Field(default_factory=dict, max_length=100)
    noise: Text = DEFAULT_NOISE
    sigma: float | None = Field(default=None, gt=0)
    epochs: int = Field(default=20, ge=1, le=_MOST)
    optimizer: Literal["sgd", "adam"] = "sgd"
    lr: float = Field(default=0.1, gt=0)
    schedule: Text = "one-cycle"
    milestones: tuple[float, ...] = Field(default=(), max_length=1_000)
    warmup_epochs: float = Field(default=0.0, ge=0)
    batch_size: int = Field(default=32, ge=1, le=_MOST)
    momentum: float = Field(default=0.9, ge=0, lt=1)
    nesterov: bool = False
    weight_decay: float = Field(default=1e-3, ge=0)
    normalize: bool = True
    augment: bool = True
    holdout: Literal["none"] | Annotated[int, Field(ge=1, le=_MOST, strict=True)] | None = None
    max_train_images: int | None = Field(default=None, ge=1, le=_MOST)
    precision: Literal["32-true", "bf16-mixed"] = FLOAT32
    rounding: Literal["int8", "seven-bits"] | None = None
    start: Place | None = None
    certify_every: int = Field(default=0, ge=0, le=_MOST)
    certify_images: int = Field(default=100, ge=1, le=_MOST)
    certify_votes: int = Field(default=1_000, ge=1, le=_MOST)
    seed: int | None = None
    members: tuple[Place, ...] | None = Field(default=None, max_length=MOST_MEMBERS)
    classifier: Place | None = None
    digests: tuple[Text, ...] | None = Field(default=None, max_length=MOST_MEMBERS)
    depth: int | None = Field(default=None, ge=2, le=MOST_DEPTH, strict=True)
    width: int | None = Field(default=None, ge=1, le=MOST_WIDTH, strict=True)
    packages: dict[Text, dict[Text, dict[Text, Text]]] | None = Field(default=None, max_length=16)
    recipe: Text | None = None
    recipe_epochs: int | None = Field(default=None, ge=1, le=_MOST)

    def __init__(self, /, **values: Any) -> None:  # a file may well have a field called "self"
        checked = with_checked_noise(with_data_place(values), tuple(type(self).model_fields))
        try:
            super().__init__(**with_default_noise(with_default_model(checked)))
        except ValidationError as error:
            raise InvalidArgumentError(_sentence(error)) from None

    @field_validator(*_REGISTRIES)
    @classmethod
    def _known(cls, value: str, info: Any) -> str:
        handed_in = info.data.get("own") is not None and info.field_name in ("dataset", "model")
        known = _REGISTRIES[info.field_name]
        other_model = info.field_name == "model" and (
            value in DENOISERS or FactoryName.read(value) is not None
        )
        if not (handed_in or value in known or other_model):
            known[value]  # raises the error that lists the known names
        return value

    @field_validator("seed")
    @classmethod
    def _seed_in_range(cls, value: int | None) -> int | None:
        return value if value is None else check_seed(value)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse_inconsistent(self)
        return self

    @model_serializer(mode="wrap")
    def _without_unset(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        return drop_unset(handler(self))

    def objective(self) -> Objective:
        """Build the method with its settings; one that it does not have is refused by name."""
        return make_objective(self.method, self.settings)

    def normalisation(self) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return mean and deviation, per channel, that the network's first layer normalises by; empty for no layer."""
        if self.own is not None:
            return self.own.mean, self.own.std
        source = DATASETS[self.dataset]
        if self.factory is not None and not self.normalize:
            return (), ()
        if self.normalize:
            return source.mean, source.std
        return tuple(0.0 for _ in source.mean), tuple(1.0 for _ in source.std)

    @property
    def factory(self) -> FactoryName | None:
        """The factory of the user's own that makes the network; None for one that has a name here."""
        return FactoryName.read(self.model) if self.own is None and self.model not in MODELS else None

    def with_packages(self) -> TrainConfig:
        """Return the configuration with the packages that its members come from; refuse other ones given before.

        Another version may have another loss: a training by one is not continued by another.
        """
        packages = packages_of((registry, getattr(self, name)) for name, registry in _REGISTRIES.items())
        if self.packages is not None and self.packages != packages:
            raise InvalidArgumentError(
                f"packages must be those that are installed, {packages}, got {brief(self.packages)}; install the same "
                "ones, or leave them out"
            )
        return self.changed(packages=packages) if packages else self

    def training_images(self) -> Dataset:
        """Read the images to train on: all that are not held out."""
        return load_dataset(self.dataset, "train", self.data_dir, holdout=held_out(self.holdout))

    def holdout_images(self) -> Dataset | None:
        """Read the images that are held out; None if none are."""
        size = held_out(self.holdout)
        return None if size == 0 else load_dataset(self.dataset, "holdout", self.data_dir, holdout=size)

    def noise_law(self) -> NoiseLaw:
        """Build the law of the noise."""
        if self.own is not None:  # which may be told by another number than the settings have
            return noise_from(dict(self.own.noise_law))
        return noise_of(self.noise, {"sigma": self.sigma, **(self.model_extra or {})})

    def scaled(self, epochs: int) -> TrainConfig:
        """Return the same training in another number of epochs: drops and warm-up move with it, on record."""
        factor = epochs / self.epochs
        return self.changed(
            epochs=epochs,
            milestones=tuple(milestone * factor for milestone in self.milestones),
            warmup_epochs=self.warmup_epochs * factor,
            recipe_epochs=self.recipe_epochs or self.epochs,
        )

    def changed(self, **values: Any) -> TrainConfig:
        """Return a copy with some settings changed, checked like new ones."""
        known = without_other_noise(self.model_dump(), values)
        if values.get("dataset", self.dataset) != self.dataset:  # another one lies elsewhere
            known["data_dir"] = None
        return TrainConfig(**{**known, **values})


def _sentence(error: ValidationError) -> str:
    """Say in one sentence which setting is wrong, why, and which value it had."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if not name:  # a rule between settings, with a sentence of its own
        return str(first["ctx"]["error"])
    return f"training setting {brief(name)} is wrong: {first['msg']}, got {brief(first['input'])}"
