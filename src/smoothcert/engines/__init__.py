"""A classifier -> the same classifier executed fast."""

from smoothcert.engines.engine import ENGINES, MIN_ROWS, Engine, Model
from smoothcert.engines.resolve import resolve_engine
from smoothcert.engines.torch_engine import TorchEngine

__all__ = ["ENGINES", "MIN_ROWS", "Engine", "Model", "TorchEngine", "resolve_engine"]
