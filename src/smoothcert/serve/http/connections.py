"""Connections to the service: how many there may be, and how long one may take to say what it asks."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

from uvicorn.protocols.http.h11_impl import H11Protocol

from smoothcert.serve.limits import Limits

_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 1\r\n\r\n"
)


def limited_protocol(limits: Limits) -> type[H11Protocol]:
    """Return what Uvicorn makes for each connection, as its setting `http`.

    Args:
        limits: of connections, and of the seconds for the head of a request.
    """
    return type("LimitedProtocol", (_Limited,), {"limits": limits})


class _Limited(H11Protocol):
    """HTTP/1.1 that closes a connection too many, and one on which the head of a request does not end.

    Its time begins with the connection, or with the first byte of a further request; between two requests Uvicorn's own
    limit holds.
    """

    limits: ClassVar[Limits]
    _watch: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection, or turn it away."""
        super().connection_made(transport)
        if len(self.connections) > self.limits.connections:
            transport.write(_FULL)
            transport.close()
        else:
            self._watch_head()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        self._watch_head()
        super().data_received(data)
        if self._is_answering():
            self._forget_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget a connection that has ended."""
        self._forget_head()
        super().connection_lost(exc)

    def _is_answering(self) -> bool:
        """Return whether the head of a request has come, and its answer has not gone out whole."""
        cycle: Any = self.cycle
        return cycle is not None and not cycle.response_complete

    def _watch_head(self) -> None:
        if self._watch is None and not self._is_answering():
            self._watch = self.loop.call_later(self.limits.head_seconds, self.transport.abort)

    def _forget_head(self) -> None:
        if self._watch is not None:
            self._watch.cancel()
            self._watch = None
