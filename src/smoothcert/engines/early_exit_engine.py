"""Ensembles that exit early, with every part run by its own engine."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from typing_extensions import override

from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.engine import Engine
from smoothcert.engines.unavailable import refuse_intercepted
from smoothcert.engines.workload import rows_in_cache
from smoothcert.networks import counted, runs_known_code, whole_parts


class EarlyExitEngine(Engine):
    """An ensemble whose later members are asked about some rows only: one engine per part, the exit in between.

    Not in the registry: it is how any engine runs such a model, and has that engine's name. A graph made of the
    whole ensemble would ask every member about every row. It takes large batches, so that the few open rows of each
    make a pass worth its start, and cuts what its parts are asked into passes that suit a core's cache.

    Args:
        kind: the engine to run the parts with.
        model: an ensemble or panel for which `exits_early` is true.
        num_classes: classes that every answer must have.
        example: one image of the shape that will be asked about.
    """

    exits_early = True
    gathers = 8

    def __init__(self, kind: type[Engine], model: nn.Module, num_classes: int, example: torch.Tensor) -> None:
        refuse_intercepted(model)  # what is between the parts is not called but taken apart
        parts = whole_parts(model, example)
        self._parts = {part: kind(part, num_classes, seen) for part, seen in parts}
        self._rows = {part: rows_in_cache(seen) for part, seen in parts}
        first = next(iter(self._parts.values()))
        # As every instance of `kind` has them.
        self.registered_name = kind.registered_name  # type: ignore[misc]
        self.package = kind.package  # type: ignore[misc]
        super().__init__(model, num_classes, example, first.device)
        self.as_is = all(part.as_is for part in self._parts.values())
        # The exit itself is not in any part, and may be another package's code.
        self.shareable = all(part.shareable for part in self._parts.values()) and runs_known_code(model)
        refuse_other_answers(self.exact_forward, lambda batch: model(batch.to(self.device)), example)

    @override
    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self.counted_forward(batch)[0]

    @torch.inference_mode()
    @override
    def counted_forward(self, batch: torch.Tensor) -> tuple[torch.Tensor, NDArray[np.int64]]:
        batch = batch.to(self.device, non_blocking=True)
        logits, passes = counted(self.model, batch, self._run)  # type: ignore[arg-type]  # modules only
        return logits, passes.cpu().numpy().reshape(len(batch), self.answers)

    @torch.inference_mode()
    @override
    def exact_forward(self, batch: torch.Tensor) -> torch.Tensor:
        def run(part: nn.Module, rows: torch.Tensor) -> torch.Tensor:
            return _kept(self._parts[part], self._parts[part].exact_forward(rows))

        return counted(self.model, batch.to(self.device), run)[0]  # type: ignore[arg-type]  # modules only

    def _run(self, part: nn.Module, batch: torch.Tensor) -> torch.Tensor:
        # Equal pieces: a small rest would fall below the rows that a pass must have.
        pieces = batch.tensor_split(-(-len(batch) // self._rows[part]))
        engine = self._parts[part]
        answers = [_kept(engine, engine.forward(piece)) for piece in pieces]
        return answers[0] if len(answers) == 1 else torch.cat(answers)


def _kept(engine: Engine, answer: torch.Tensor) -> torch.Tensor:
    """Return an answer that stays while others are asked: code of a user may write all answers into one buffer."""
    return answer if engine.shareable else answer.clone()
