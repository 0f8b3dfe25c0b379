"""The configuration of one training run."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from smoothcert.data import DATASETS
from smoothcert.errors import InvalidArgumentError
from smoothcert.models import MODELS
from smoothcert.noise import NOISE_LAWS
from smoothcert.registry import Registry
from smoothcert.seeding import check_seed
from smoothcert.training.objective import OBJECTIVES

_REGISTRIES: dict[str, Registry[Any]] = {
    "dataset": DATASETS,
    "model": MODELS,
    "method": OBJECTIVES,
    "noise": NOISE_LAWS,
}


class TrainConfig(BaseModel):
    """All that decides the weights of a trained model; the defaults suit the embedded digits.

    Not a place for speed or output settings. A wrong value raises `InvalidArgumentError`, an unknown name
    `UnknownNameError`.

    Args:
        dataset: name in `DATASETS`.
        data_dir: folder of the data set's files, if it is not embedded.
        model: name in `MODELS`.
        method: name in `OBJECTIVES`.
        noise: name in `NOISE_LAWS`.
        sigma: standard deviation of the noise per coordinate, in pixel units.
        epochs: passes over the training split.
        lr: peak learning rate of the one-cycle schedule.
        batch_size: largest number of images per step.
        momentum: of stochastic gradient descent.
        weight_decay: of stochastic gradient descent.
        seed: 0 .. 2^128 - 1; drawn from the operating system, and recorded, when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    dataset: str = "digits"
    data_dir: str | None = None
    model: str = "convnet"
    method: str = "gaussian"
    noise: str = "gaussian"
    sigma: float = Field(default=0.25, gt=0)
    epochs: int = Field(default=20, ge=1)
    lr: float = Field(default=0.1, gt=0)
    batch_size: int = Field(default=32, ge=1)
    momentum: float = Field(default=0.9, ge=0, lt=1)
    weight_decay: float = Field(default=1e-3, ge=0)
    seed: int | None = None

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except ValidationError as error:
            raise InvalidArgumentError(_sentence(error)) from None

    @field_validator(*_REGISTRIES)
    @classmethod
    def _known(cls, value: str, info: Any) -> str:
        _REGISTRIES[info.field_name][value]  # raises the error that lists the known names
        return value

    @field_validator("seed")
    @classmethod
    def _seed_in_range(cls, value: int | None) -> int | None:
        return value if value is None else check_seed(value)


def _sentence(error: ValidationError) -> str:
    """Say in one sentence which setting is wrong, why, and which value it had."""
    first = error.errors()[0]
    name = ".".join(str(part) for part in first["loc"])
    if first["type"] == "extra_forbidden":
        known = ", ".join(TrainConfig.model_fields)
        return f"unknown training setting {name!r}; known: {known}"
    return f"training setting {name!r} is wrong: {first['msg']}, got {first['input']!r}"
