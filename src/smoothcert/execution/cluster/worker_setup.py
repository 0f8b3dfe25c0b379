"""What a worker elsewhere is sent once: the classifier, the noise, the seed and the engine to use."""

from __future__ import annotations

import copy
import pickle
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
from torch import nn

from smoothcert.engines import Model, build_engine, versions_for
from smoothcert.errors import InvalidArgumentError, WorkerError
from smoothcert.execution.cluster.library import ray_library
from smoothcert.networks import is_installed_module
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Sampler, VoteSource


@dataclass(frozen=True)
class WorkerSetup:
    """Everything that a worker needs to draw the votes of any chunk.

    Args:
        model: the classifier, on the CPU.
        device: kind of device it runs on.
        engine: name of the engine that was resolved for the run.
        package: what that engine calculates with beside torch.
        versions: releases that calculate the votes here.
        num_classes: classes that every answer has.
        example: one image.
        noise: law of the noise.
        seed: of all streams.
        on_nan: what NaN logits do.
        batch_size: most rows per forward pass.
    """

    model: Model
    device: str
    engine: str
    package: str | None
    versions: dict[str, str]
    num_classes: int
    example: torch.Tensor
    noise: NoiseLaw
    seed: int
    on_nan: str
    batch_size: int

    @classmethod
    def of(cls, source: VoteSource, batch_size: int) -> WorkerSetup:
        """Return what workers need to draw the votes of a source."""
        engine, model = source.engine, source.engine.model
        if engine.device.type != "cpu" and isinstance(model, nn.Module):
            model = copy.deepcopy(model).cpu()  # a worker may not have the device of this number
        return cls(
            model=model,
            device=engine.device.type,
            engine=engine.engine_name,
            package=engine.package,
            versions=versions_for(engine.package),
            num_classes=engine.num_classes,
            example=engine.example.cpu(),
            noise=source.noise,
            seed=source.seed,
            on_nan=source.on_nan,
            batch_size=batch_size,
        )

    def packed(self) -> bytes:
        """Return it as bytes, code of the user's own by value where no other process could import it."""
        try:
            with _sent_whole():
                return bytes(ray_library().cloudpickle.dumps(self))
        except Exception as error:  # objects of the user's own may raise anything
            raise InvalidArgumentError(
                f"the model cannot be sent to the workers of a cluster ({type(error).__name__}: {error}); give a model "
                "that pickle can write, or draw the votes here, without --ray"
            ) from error

    @staticmethod
    def unpacked(content: bytes) -> WorkerSetup:
        """Return what `packed` wrote; runs code of the user's own, as any pickle may."""
        setup = pickle.loads(content)
        assert isinstance(setup, WorkerSetup)
        return setup

    def sampler(self) -> Sampler:
        """Return a worker's sampler with the engine of the run; refuse one that cannot be built here."""
        model: Any = self.model
        if self.device != "cpu" and isinstance(model, nn.Module):
            model = model.to(self.device)
        engine = build_engine(self.engine, model, self.num_classes, self.example, self.noise)
        if engine.engine_name != self.engine:
            raise WorkerError(f"engine {self.engine} cannot run the model there: {engine.stands_in}")
        return Sampler(engine, self.noise, seed=self.seed, batch_size=self.batch_size, on_nan=self.on_nan)


@contextmanager
def _sent_whole() -> Iterator[None]:
    """Let code of the user's own be sent by value: other machines, and other folders, do not have its files."""
    library = ray_library().cloudpickle
    own = [
        module
        for name, module in list(sys.modules.items())
        if isinstance(module, ModuleType)
        and module.__name__ == name != "__main__"  # which is sent so anyway
        and "__file__" in vars(module)
        and not is_installed_module(module)
    ]
    for module in own:
        library.register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in own:
            library.unregister_pickle_by_value(module)
