"""ONNX Runtime: graphs executed by the calling thread alone."""

from __future__ import annotations

from typing import Any

from smoothcert.errors import CheckpointError

_SHOWN = 160  # characters of a reason


def onnx_session(content: bytes) -> Any:
    """Return a session of ONNX Runtime on the CPU that takes no threads of its own.

    Args:
        content: a graph with all its weights, as an ONNX file has it; `CheckpointError` says why it cannot be run.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise CheckpointError("onnxruntime is not installed") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, and told once
    try:
        # Without the attempt to fall back, which prints: there is one provider.
        return onnxruntime.InferenceSession(
            content, options, providers=["CPUExecutionProvider"], enable_fallback=0
        )
    except Exception as error:  # kinds of its own, such as for weights that are not float32
        raise CheckpointError(f"ONNX Runtime does not take it ({runtime_reason(error)})") from error


def runtime_reason(error: Exception) -> str:
    """Return the first line of what ONNX Runtime complains of."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0][:_SHOWN]
