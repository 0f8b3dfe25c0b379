"""The connection of this process to a Ray cluster, of which there can be one at a time."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from smoothcert.errors import WorkerError
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.local_cluster import local_cluster, opened_by

_KNOCK_SECONDS = 10.0


@contextmanager
def connected(address: str | None, cores: int) -> Iterator[None]:
    """Be connected to a cluster: to the one at an address, or to one of this machine that ends in the end.

    A process that is connected already, by its own `ray.init`, stays so, and its cluster is used.

    Args:
        address: "host:port" of the head, or "auto" for the cluster that this machine belongs to; None for a new one.
        cores: that a new one offers.
    """
    if ray_library().is_initialized():
        yield
    elif address is None:
        with local_cluster(cores) as (own, token), _showing(token), _joined(own):
            yield
    else:
        with _joined(address):
            yield


@contextmanager
def _showing(token: Path) -> Iterator[None]:
    """Let Ray show a token to the cluster that this process connects to."""
    wanted = opened_by(token)
    before = {name: os.environ.get(name) for name in (*wanted, "RAY_AUTH_TOKEN")}
    os.environ.pop("RAY_AUTH_TOKEN", None)
    os.environ.update(wanted)
    _read_settings_again()
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
        _read_settings_again()


def _read_settings_again() -> None:
    """Let Ray forget the settings that it keeps from its import; releases without tokens have nothing to forget."""
    with contextlib.suppress(ImportError, AttributeError):
        inside: Any = import_module("ray._raylet")
        inside.Config.initialize("")
        inside.AuthenticationTokenLoader.instance().reset_cache()


def _knock(address: str) -> None:
    """Raise OSError or ValueError if nobody listens at an address."""
    host, colon, port = address.rpartition(":")
    if not colon or not port.isdecimal():
        raise ValueError("it is not written host:port")
    socket.create_connection((host.strip("[]"), int(port)), _KNOCK_SECONDS).close()


@contextmanager
def _keeping_signals() -> Iterator[None]:
    """Leave what SIGTERM does as it was: Ray would end this process, where a run keeps what was counted."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    finally:
        if before is not None:  # else it is not of Python, and cannot be set
            signal.signal(signal.SIGTERM, before)


@contextmanager
def _joined(address: str) -> Iterator[None]:
    ray = ray_library()
    try:
        if address != "auto":
            _knock(address)  # Ray itself would wait for minutes
        with _keeping_signals():
            ray.init(address=address, log_to_driver=False, configure_logging=False, namespace="smoothcert")
    except Exception as error:  # of many kinds, for an address where nobody is or another release of Ray
        reason = " ".join(str(error).split())[:300]
        raise WorkerError(
            f"cannot connect to the Ray cluster at {address}: {reason}; is it running there?"
        ) from error
    try:
        yield
    finally:
        ray.shutdown()
