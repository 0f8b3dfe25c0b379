"""What every request passes before anything is read of it: host, origin, key, size of the body, and the log."""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from smoothcert.serve.http.errors import HttpError, told
from smoothcert.serve.keys import ApiKeys
from smoothcert.serve.telling import Telling

LOOPBACK = ("localhost", "127.0.0.1", "::1")
_OPEN = ("/healthz", "/readyz", "/", "/openapi.json")
_BODY_SECONDS = 30.0
_DRAINED = 2**26  # bytes of a body too large that are thrown away, so that the client reads why
_HEADERS = {
    "Content-Security-Policy": "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_log = logging.getLogger("smoothcert.serve")


class Guards:
    """Refuses what must not come in, and says in one line what did. Not a router.

    Args:
        app: what is guarded.
        keys: that open it.
        most_body: bytes of a body.
        hosts: host names that are answered to; None for any.
        telling: told of every answer.
    """

    def __init__(
        self, app: ASGIApp, *, keys: ApiKeys, most_body: int, hosts: tuple[str, ...] | None, telling: Telling
    ) -> None:
        self._app, self._keys, self._most_body = app, keys, most_body
        self._hosts, self._telling = hosts, telling

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        record = _Record(scope, self._telling)

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                record.status = message["status"]
                headers = MutableHeaders(scope=message)
                headers.update({**_HEADERS, "X-Request-Id": record.name})
            await send(message)

        try:
            self._refuse(scope)
            body = await self._body(scope, receive)
            await self._app(scope, _received(body, receive), answer)
        except Exception as error:
            if not isinstance(error, HttpError):
                _log.error("request %s failed", record.name, exc_info=error)
            if record.status == 0:
                await told(error).response()(scope, receive, answer)
        finally:
            record.close()

    def _refuse(self, scope: Scope) -> None:
        headers = Headers(scope=scope)
        host = headers.get("host", "")
        name = _host_name(host)
        if self._hosts is not None and name not in self._hosts:
            raise HttpError(
                403, "forbidden", "this host name is not the service's; ask 127.0.0.1 or localhost"
            )
        origin = headers.get("origin")
        if origin is not None and _place_of(origin) != host:
            raise HttpError(403, "forbidden", "pages of other origins may not ask")
        path = scope["path"]
        if path in _OPEN or path.startswith("/static/"):
            return
        scheme, _, bearer = headers.get("authorization", "").partition(" ")
        given = bearer.strip() if scheme.lower() == "bearer" else headers.get("x-api-key")
        if not self._keys.opens(given):
            raise HttpError(401, "unauthorized", "send a valid key as Authorization: Bearer KEY")

    async def _body(self, scope: Scope, receive: Receive) -> bytes:
        """Return the whole body; throw away, up to a bound, what is too large."""
        told_length = Headers(scope=scope).get("content-length", "0")
        large = told_length.isdecimal() and int(told_length) > self._most_body
        content, size, more = bytearray(), 0, True
        try:
            async with asyncio.timeout(_BODY_SECONDS):
                while more and size <= _DRAINED:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise HttpError(400, "malformed", "the body ended early")
                    part, more = message.get("body", b""), message.get("more_body", False)
                    size += len(part)
                    large = large or size > self._most_body
                    if large:
                        content.clear()
                    else:
                        content += part
        except TimeoutError:
            raise HttpError(408, "too_slow", "the body took too long to arrive") from None
        if large:
            raise HttpError(413, "too_large", f"a body may have {self._most_body:,} bytes")
        return bytes(content)


class _Record:
    """One line of the log. Holds neither image nor key."""

    def __init__(self, scope: Scope, telling: Telling) -> None:
        self.name, self.status = secrets.token_hex(8), 0
        self._scope, self._telling, self._start = scope, telling, time.monotonic()

    def close(self) -> None:
        """Write the line."""
        route = self._scope.get("route")
        path = getattr(route, "path", "other")  # as the schema has it: what was asked may hold anything
        seconds = time.monotonic() - self._start
        self._telling.answered(path, self.status, seconds)
        _log.info(
            "request",
            extra={
                "fields": {
                    "request": self.name,
                    "method": self._scope["method"][:16],
                    "path": path,
                    "status": self.status,
                    "seconds": round(seconds, 4),
                    **self._scope.get("told", {}),
                }
            },
        )


class JsonLines(logging.Formatter):
    """Log records as one JSON object per line."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["trace"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _host_name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""


def _received(body: bytes, receive: Receive) -> Receive:
    """Return what hands on a body that was read, then whatever comes, such as that the client has gone."""
    given = False

    async def again() -> Message:
        nonlocal given
        if not given:
            given = True
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


def _place_of(origin: str) -> str | None:
    """Return host and port of an origin; None of one that is no address."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None
