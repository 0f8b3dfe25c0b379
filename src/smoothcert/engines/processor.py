"""What the processor has instructions for below float32, as the system tells."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

_TOLD = Path("/proc/cpuinfo")
_LISTS = ("flags", "features")  # of processors of Intel and AMD, of Arm
_INT8 = {"avx512_vnni", "avx_vnni", "amx_int8", "asimddp", "i8mm"}
_BFLOAT16 = {"avx512_bf16", "amx_bf16", "bf16"}


@dataclass(frozen=True)
class Processor:
    """Which numbers below float32 the processor multiplies by instructions of their own.

    Not a measurement: whether they make a network faster depends on the network and the engine.

    Args:
        int8: whether it has some for 8-bit integers (VNNI and its like); None where that is not known.
        bfloat16: likewise for bfloat16.
    """

    int8: bool | None
    bfloat16: bool | None


def this_processor(told: Path = _TOLD) -> Processor:
    """Return what is known of the processor that this runs on.

    Args:
        told: the file in which the system describes it.
    """
    try:
        lines = told.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # another system than Linux
        return Processor(None, None)
    pairs = (line.partition(":") for line in lines)
    lists = [set(values.split()) for name, _, values in pairs if name.strip().lower() in _LISTS]
    if not lists:
        return Processor(None, None)
    common: Collection[str] = set.intersection(*lists)  # cores may differ, and a thread may run on any
    return Processor(not _INT8.isdisjoint(common), not _BFLOAT16.isdisjoint(common))
