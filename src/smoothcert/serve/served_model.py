"""A model that is served: its classifier, checked and bound to an engine once, before the first request."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch

from smoothcert.certificates import (
    Certification,
    FixedSample,
    Procedure,
    SmoothedClassifier,
    load_classifier,
)
from smoothcert.data import DATASETS, Dataset, load_dataset
from smoothcert.errors import DataError, InvalidArgumentError
from smoothcert.networks import parameters_of
from smoothcert.sampling import check_batch_size

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,99}")
_MANY = 1_000  # images to plan for, so that the engine is one for long jobs
_PLANS = 64  # kept: some take seconds to make
_BYTES = 4  # of a weight, at most what it takes in memory


@dataclass(frozen=True, eq=False)
class ServedModel:
    """One model under its name.

    Args:
        name: in paths and answers.
        classifier: the model with its noise.
        base: its certification, of which those of requests differ in procedure, alpha and seed.
        batch_size: most rows per forward pass.
        samples: images to try; None if there are none.
    """

    name: str
    classifier: SmoothedClassifier
    base: Certification
    batch_size: int
    samples: Dataset | None = None
    _plan: Any = field(init=False, repr=False)

    def __post_init__(self) -> None:
        def plan(procedure: Procedure, alpha: float) -> Any:
            return procedure.plan(self.base.noise, alpha)

        object.__setattr__(self, "_plan", lru_cache(_PLANS)(plan))

    @classmethod
    def load(
        cls, name: str, folder: Path, *, engine: str = "auto", batch_size: int | None = None
    ) -> ServedModel:
        """Load a model folder and check that it is a fixed function, as certifying a data set does.

        Votes without a finite answer count for no class: an image that makes a network overflow must not end the
        requests that share its batch.
        """
        classifier = load_classifier(folder)
        classifier.on_nan = "count"
        if classifier.input_shape is None:
            raise InvalidArgumentError(f"{folder} does not say which shape of image it takes; serve a folder")
        example = torch.full(classifier.input_shape, 0.5)
        noisy = torch.rand(classifier.input_shape, generator=torch.Generator().manual_seed(0))
        terms: dict[str, Any] = {"alpha": 0.001, "seed": None, "engine": engine, "example": example}
        base = classifier.certification(FixedSample(), images=_MANY, **terms)
        rows = check_batch_size(batch_size, example, base.engine)
        base.check({0: example, 1: noisy, 2: 1 - noisy}, batch_size=rows)
        return cls(name, classifier, base, rows)

    @property
    def class_names(self) -> tuple[str, ...]:
        """One name per class; numbers where the model has none."""
        names = self.classifier.class_names
        return tuple(map(str, range(self.classifier.num_classes))) if names is None else tuple(names)

    @property
    def input_shape(self) -> tuple[int, ...]:
        """Shape of one image."""
        assert self.classifier.input_shape is not None
        return tuple(self.classifier.input_shape)

    @property
    def weights_bytes(self) -> int:
        """Memory that the weights take, at most."""
        model = self.classifier.model
        return _BYTES * parameters_of(model) if isinstance(model, torch.nn.Module) else 0

    def certification(self, procedure: Procedure, alpha: float, seed: int = 0) -> Certification:
        """Bind a procedure; refuse one that the noise cannot prove."""
        plan = self._plan(procedure, alpha)
        how = {"plan": plan, "alpha": float(alpha), "procedure": procedure.describe(), "seed": seed}
        return replace(self.base, **how, first_phase=plan.phases[0].name)

    def told(self) -> dict[str, Any]:
        """Return what clients should know of it."""
        return {
            "name": self.name,
            "identity": self.base.model,
            "input_shape": list(self.input_shape),
            "num_classes": self.classifier.num_classes,
            "class_names": list(self.class_names),
            "noise": self.base.law,
            "norm": self.base.noise.norm,
            "engine": self.base.engine.engine_name,
            "samples": 0 if self.samples is None else len(self.samples),
        }

    def with_samples(self, dataset: str | None, data_dir: Path | None) -> ServedModel:
        """Return the model with images to try: of a data set, or of the one it was trained on if that is at hand."""
        trained = self.classifier.trained_for
        name = dataset or next(iter(trained.datasets if trained is not None else ()), None)
        if name is None or (dataset is None and name not in DATASETS):
            return self
        try:
            found = load_dataset(name, split="test", data_dir=data_dir)
        except DataError:
            if dataset is not None:
                raise
            return self
        return replace(self, samples=found) if found.input_shape == self.input_shape else self


def name_of(folder: Path) -> str:
    """Return the name of a model: its folder's."""
    name = folder.resolve().name
    if _NAME.fullmatch(name) is None:
        raise InvalidArgumentError(
            f"a model is served under the name of its folder, but {name!r} has other characters than letters, digits, "
            "'.', '_' and '-'; rename or link it"
        )
    return name


def load_models(
    folders: Sequence[Path], *, engine: str, batch_size: int | None, memory: int
) -> dict[str, ServedModel]:
    """Load models by name; refuse two of one name, and more weights than `memory` MiB."""
    names = [name_of(folder) for folder in folders]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidArgumentError(f"two models would be called {twice!r}; rename one of the folders")
    models: dict[str, ServedModel] = {}
    left = memory * 2**20
    for name, folder in zip(names, folders, strict=True):
        models[name] = ServedModel.load(name, folder, engine=engine, batch_size=batch_size)
        left -= models[name].weights_bytes
        if left < 0:
            raise InvalidArgumentError(
                f"the weights of the models up to {name!r} take more than {memory:,} MiB; serve fewer, or raise "
                "--max-model-memory"
            )
    return models
