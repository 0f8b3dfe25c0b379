"""The torch module as it is."""

from __future__ import annotations

from typing import ClassVar

from smoothcert.engines.runtimes.torch import TorchEngine
from smoothcert.engines.workload import Workload


class EagerEngine(TorchEngine):
    """The torch module as it is: `model(x)` without gradient bookkeeping, nothing folded, copied or laid out otherwise.

    Not fast. For whoever trusts no transformation, and for models that no engine can transform faithfully.
    """

    otherwise: ClassVar[str | None] = None
    takes_parts: ClassVar[bool] = False
    runs_onnx_files: ClassVar[bool] = True
    _folds: ClassVar[bool] = False

    @classmethod
    def setup_seconds(cls, workload: Workload) -> float | None:
        """Return None: the torch engine calls the model itself too where it must."""
        return None
