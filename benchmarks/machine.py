"""The machine under the figures: is it quiet, what is it, and what is the most it could do?"""

from __future__ import annotations

import os
import platform
import threading
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

from benchmarks.measure import Spread, spread
from benchmarks.settings import cores

QUIET_LOAD = 0.1  # cores
PACKAGES = ("smoothcert", "torch", "onnxruntime", "numpy", "adversarial-robustness-toolbox")


def busy_cores(seconds: float = 3.0) -> float:
    """Return how many cores other programs keep busy, while this one sleeps.

    Not the load average, which would count the set-up that a minute ago came before the benchmark.
    """
    before = _jiffies()
    time.sleep(seconds)
    busy, idle = (after - start for after, start in zip(_jiffies(), before, strict=True))
    return cores() * busy / max(busy + idle, 1)


def _jiffies() -> tuple[int, int]:
    """Return the time that all cores together have worked and idled."""
    numbers = [int(word) for word in _lines("/proc/stat")[0].split()[1:9]]
    idle = numbers[3] + numbers[4]  # waiting for a disk is idling
    return sum(numbers) - idle, idle


def load_warning(load: float) -> str | None:
    """Return a sentence if the machine was busy before the start, else None."""
    if load <= QUIET_LOAD:
        return None
    return (
        f"WARNING: other programs kept {load:.2f} cores busy before the start (quiet: at most {QUIET_LOAD}), so these "
        "figures prove nothing"
    )


def use_default_threads() -> int:
    """Give torch one thread per core, its default, even where OMP_NUM_THREADS says otherwise.

    The rivals run with torch's default; our workers set one thread each, whatever this says.
    """
    torch.set_num_threads(cores())
    return torch.get_num_threads()


def describe() -> dict[str, Any]:
    """Return processor, memory, threads and versions."""
    names = [line.split(":", 1)[1] for line in _lines("/proc/cpuinfo") if line.startswith("model name")]
    memory = next(line.split()[1] for line in _lines("/proc/meminfo") if line.startswith("MemTotal"))
    return {
        "cpu": names[0].strip() if names else platform.processor(),
        "cores": cores(),
        "memory_gb": round(int(memory) / 2**20, 1),
        "torch_threads": torch.get_num_threads(),
        "omp_num_threads": os.environ.get("OMP_NUM_THREADS"),
        "versions": {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}},
    }


def peak_gflops(seconds: float, *, size: int = 2048, repetitions: int = 3) -> Spread:
    """Return billions of float32 operations per second: one single-threaded matrix product per core, all at once.

    Args:
        seconds: length of one measurement.
        size: rows and columns of the matrices.
        repetitions: measurements.
    """
    return spread([_products(seconds, size) * 2 * size**3 / 1e9 for _ in range(repetitions)])


def on_every_core(work: Callable[[int], None], workers: int) -> None:
    """Run `work(number)` on single-threaded torch threads, one per worker, and wait for all."""

    def single(number: int) -> None:
        torch.set_num_threads(1)  # kept per thread
        work(number)

    before = torch.get_num_threads()
    threads = [threading.Thread(target=single, args=(number,)) for number in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    torch.set_num_threads(before)


def _products(seconds: float, size: int) -> float:
    """Return matrix products per second, over all cores."""
    rates = [0.0] * cores()
    ready = threading.Barrier(cores())

    def multiply(number: int) -> None:
        a, b, out = torch.rand(size, size), torch.rand(size, size), torch.empty(size, size)
        torch.mm(a, b, out=out)
        ready.wait()
        start, done = time.perf_counter(), 0
        while time.perf_counter() - start < seconds:
            torch.mm(a, b, out=out)
            done += 1
        rates[number] = done / (time.perf_counter() - start)

    on_every_core(multiply, cores())
    return sum(rates)


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
