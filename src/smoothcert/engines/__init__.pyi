from .allowed_difference import allowed_difference, same_answers
from .choice import Choice
from .choosing import choose_engine
from .early_exit_engine import EarlyExitEngine
from .engine import Engine, name_on
from .known import ENGINES
from .onnx_export import exported, module_on_cpu
from .processor import Processor, this_processor
from .resolve import build_engine, engine_rule
from .runtimes.callable import CallableEngine
from .runtimes.torch import TorchEngine
from .threads import single_threaded_torch
from .turns import turn
from .unavailable import EngineUnavailableError
from .versions import versions_for
from .workload import Model, Workload, device_of, rows_in_cache

__all__ = [
    "ENGINES",
    "CallableEngine",
    "Choice",
    "EarlyExitEngine",
    "Engine",
    "EngineUnavailableError",
    "Model",
    "Processor",
    "TorchEngine",
    "Workload",
    "allowed_difference",
    "build_engine",
    "choose_engine",
    "device_of",
    "engine_rule",
    "exported",
    "module_on_cpu",
    "name_on",
    "rows_in_cache",
    "same_answers",
    "single_threaded_torch",
    "this_processor",
    "turn",
    "versions_for",
]
