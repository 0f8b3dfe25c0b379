"""A classifier -> the same classifier executed fast."""

from smoothcert.engines.allowed_difference import allowed_difference
from smoothcert.engines.cache_rows import rows_in_cache
from smoothcert.engines.early_exit_engine import EarlyExitEngine
from smoothcert.engines.engine import ENGINES, Engine, name_on
from smoothcert.engines.resolve import build_engine, engine_rule
from smoothcert.engines.runtimes.callable import CallableEngine
from smoothcert.engines.runtimes.torch import TorchEngine
from smoothcert.engines.turns import turn
from smoothcert.engines.unavailable import EngineUnavailableError
from smoothcert.engines.user_code import attribute_names, closure_values, global_names
from smoothcert.engines.workload import Model, Workload, device_of

__all__ = [
    "ENGINES",
    "CallableEngine",
    "EarlyExitEngine",
    "Engine",
    "EngineUnavailableError",
    "Model",
    "TorchEngine",
    "Workload",
    "allowed_difference",
    "attribute_names",
    "build_engine",
    "closure_values",
    "device_of",
    "engine_rule",
    "global_names",
    "name_on",
    "rows_in_cache",
    "turn",
]
