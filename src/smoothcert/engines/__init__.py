"""A classifier -> the same classifier executed fast."""

from smoothcert.engines.compiled_engine import CompiledEngine
from smoothcert.engines.engine import ENGINES, MIN_ROWS, Engine, EngineUnavailableError, Model
from smoothcert.engines.onnx_engine import OnnxEngine
from smoothcert.engines.resolve import build_engine, engine_rule
from smoothcert.engines.torch_engine import AutocastEngine, TorchEngine, device_of

__all__ = [
    "ENGINES",
    "MIN_ROWS",
    "AutocastEngine",
    "CompiledEngine",
    "Engine",
    "EngineUnavailableError",
    "Model",
    "OnnxEngine",
    "TorchEngine",
    "build_engine",
    "device_of",
    "engine_rule",
]
