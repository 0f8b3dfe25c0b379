"""What goes wrong, as a client is told: a status, a code and a sentence; never a trace."""

from __future__ import annotations

from typing import Any

from starlette.responses import JSONResponse

from smoothcert.errors import (
    EngineDisagreementError,
    InvalidArgumentError,
    InvalidImageError,
    SmoothcertError,
    UnknownNameError,
    UnsoundModelError,
)
from smoothcert.serve.work import LeftError
from smoothcert.visible import visible

_LONGEST = 1_000  # characters of a message
RETRY_SECONDS = 1


class HttpError(Exception):
    """An answer that is an error.

    Args:
        status: of HTTP.
        code: for programs.
        message: for people.
    """

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status, self.code, self.message = status, code, message

    def content(self) -> dict[str, Any]:
        """Return the body of the answer."""
        return {"error": {"code": self.code, "message": visible(self.message)[:_LONGEST]}}

    def response(self) -> JSONResponse:
        """Return the answer."""
        headers = {}
        if self.status in (429, 503):
            headers["Retry-After"] = str(RETRY_SECONDS)
        if self.status == 401:
            headers["WWW-Authenticate"] = "Bearer"
        return JSONResponse(self.content(), self.status, headers)


def busy() -> HttpError:
    """Return the error for one request too many."""
    return HttpError(429, "busy", "too many requests at once; ask again in a second")


def told(error: BaseException, *, closing: bool = False) -> HttpError:
    """Return how a client is told of an error; what is no fault of theirs says nothing of the server."""
    if isinstance(error, HttpError):
        return error
    if isinstance(error, InvalidArgumentError | InvalidImageError | UnknownNameError):
        return HttpError(422, "invalid", str(error))
    if isinstance(error, LeftError | TimeoutError):
        if closing:
            return HttpError(503, "closing", "the service is closing; the votes drawn so far are kept")
        return HttpError(
            503,
            "time_limit",
            "the time limit came first; of a certificate the votes so far are kept: ask again to continue; predict "
            "with fewer votes",
        )
    if isinstance(error, EngineDisagreementError | UnsoundModelError):
        return HttpError(503, "not_ready", "the model failed a check and is no longer served")
    if closing:
        return HttpError(503, "closing", "the service is closing")
    kind = "the store" if isinstance(error, SmoothcertError) else "the service"
    return HttpError(500, "internal", f"{kind} failed; its log says why")
