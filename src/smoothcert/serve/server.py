"""The server: from folders of models to a port that answers."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

import uvicorn
from starlette.types import ASGIApp

from smoothcert.errors import InvalidArgumentError
from smoothcert.serve.http.app import make_app
from smoothcert.serve.http.connections import limited_protocol
from smoothcert.serve.http.guards import LOOPBACK, JsonLines
from smoothcert.serve.keeping.folder import ServiceFolder
from smoothcert.serve.keys import VARIABLE, ApiKeys
from smoothcert.serve.limits import Limits
from smoothcert.serve.question import Secret
from smoothcert.serve.served_model import ServedModel, load_models
from smoothcert.serve.service import Service
from smoothcert.serve.telling import Telling

_GRACE_SECONDS = 10
_BACKLOG = 256
_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@dataclass(frozen=True)
class Options:
    """How to serve.

    Args:
        store: folder for certificates.
        host: address to bind; beyond loopback keys are required.
        port: to bind; 0 lets the system choose.
        keys: file of API keys.
        limits: of requests.
        forget_images: keep digests of images only.
        engine: "auto" or the name of an engine.
        workers: that draw for each model; one per core by default.
        batch_size: most rows per forward pass.
        samples: data set of images to try; by default the one that a model was trained on, if it is at hand.
        data_dir: its folder.
    """

    store: Path
    host: str = "127.0.0.1"
    port: int = 8000
    keys: Path | None = None
    limits: Limits = field(default_factory=Limits)
    forget_images: bool = False
    engine: str = "auto"
    workers: int | None = None
    batch_size: int | None = None
    samples: str | None = None
    data_dir: Path | None = None


def serve(models: Sequence[Path], options: Options, *, ready: Callable[[str], None]) -> None:
    """Serve models until a signal ends it; everything is checked before the port is bound.

    Args:
        models: their folders.
        options: how.
        ready: told the address when requests are taken.
    """
    keys = ApiKeys.found(options.keys)
    if not keys and not is_loopback(options.host):
        raise InvalidArgumentError(
            f"whoever reaches {options.host} could ask; give keys with --keys FILE or {VARIABLE}, or leave --host out"
        )
    folder = ServiceFolder(options.store, forget_images=options.forget_images)
    with folder.held() as secret:
        loaded = _loaded(models, options)
        with _bound(options.host, options.port) as sock:
            telling = Telling()
            holder: list[Service] = []
            app = _app(loaded, folder, secret, options, keys, telling, holder)
            address = f"http://{_shown(options.host)}:{sock.getsockname()[1]}"
            _Server(app, options.limits, holder, lambda: ready(address)).run(sockets=[sock])


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _loaded(folders: Sequence[Path], options: Options) -> dict[str, ServedModel]:
    models = load_models(
        folders,
        engine=options.engine,
        batch_size=options.batch_size,
        memory=options.limits.model_memory,
    )
    return {name: one.with_samples(options.samples, options.data_dir) for name, one in models.items()}


def _app(
    models: dict[str, ServedModel],
    folder: ServiceFolder,
    secret: Secret,
    options: Options,
    keys: ApiKeys,
    telling: Telling,
    holder: list[Service],
) -> ASGIApp:
    async def make_service() -> Service:
        service = Service(models, folder, secret, limits, workers=options.workers, telling=telling)
        holder.append(service)
        return service

    values = max(model.base.engine.example.numel() for model in models.values())
    limits = replace(options.limits, body=options.limits.body_for(values))
    assert limits.body is not None
    hosts = LOOPBACK if is_loopback(options.host) else None
    return make_app(make_service, keys=keys, most_body=limits.body, hosts=hosts, telling=telling)


def _bound(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        raise InvalidArgumentError(
            f"cannot listen at {host}:{port}: {error}; choose another --port"
        ) from error
    return sock


def _shown(host: str) -> str:
    return f"[{host}]" if ":" in host else host


class _Server(uvicorn.Server):
    """Uvicorn that ends streams at the first signal, so that they need not be cut off."""

    def __init__(
        self, app: ASGIApp, limits: Limits, holder: list[Service], ready: Callable[[], None]
    ) -> None:
        super().__init__(
            uvicorn.Config(
                app,
                http=limited_protocol(limits),
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="on",
                timeout_graceful_shutdown=_GRACE_SECONDS,
            )
        )
        self._holder, self._ready = holder, ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        if self.started:
            self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take signals while it runs, and give them back: a service that was asked to end has ended well."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {sign: signal.signal(sign, self.handle_exit) for sign in _SIGNALS}
        try:
            yield
        finally:
            for sign, handler in before.items():
                signal.signal(sign, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take a signal: no more is drawn for streams."""
        for service in self._holder:
            asyncio.get_running_loop().call_soon_threadsafe(service.stop_drawing)
        super().handle_exit(sig, frame)


def log_to_standard_error() -> None:
    """Write the service's log as JSON lines."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # repeats what clients send
    for name in ("smoothcert", "uvicorn.error"):
        log = logging.getLogger(name)
        log.handlers, log.propagate = [handler], False
        log.setLevel(logging.INFO if name == "smoothcert" else logging.WARNING)
