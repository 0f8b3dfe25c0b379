"""Torch in bfloat16: a cheaper classifier than the model in float32."""

from __future__ import annotations

from typing import ClassVar

from typing_extensions import override

from smoothcert.engines.runtimes.torch import TorchEngine
from smoothcert.engines.workload import Workload
from smoothcert.networks import BFLOAT16


class AutocastEngine(TorchEngine):
    """The torch engine in bfloat16 where torch thinks it safe: faster on hardware made for it.

    Not the same classifier as in float32: its votes can differ, and a certificate from it is about the
    classifier run with this engine. Never chosen by "auto".
    """

    otherwise: ClassVar[str | None] = "torch"
    _autocast: ClassVar[bool] = True

    @property
    @override
    def precision(self) -> str | None:
        return BFLOAT16

    @classmethod
    def setup_seconds(cls, workload: Workload) -> float | None:
        """Return None: another classifier is for those who ask for it."""
        return None
