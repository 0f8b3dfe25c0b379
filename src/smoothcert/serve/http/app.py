"""The application: paths and what they call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from smoothcert.serve.http.asking import routes as asking
from smoothcert.serve.http.errors import HttpError
from smoothcert.serve.http.guards import Guards
from smoothcert.serve.http.looking import routes as looking
from smoothcert.serve.http.schema import StatusAnswer, answers
from smoothcert.serve.keys import ApiKeys
from smoothcert.serve.service import Service
from smoothcert.serve.telling import Telling

PAGE = Path(__file__).parents[1] / "page"
_CODES = {404: "not_found", 405: "method_not_allowed"}


def make_app(
    make_service: Callable[[], Awaitable[Service]],
    *,
    keys: ApiKeys,
    most_body: int,
    hosts: tuple[str, ...] | None,
    telling: Telling,
) -> ASGIApp:
    """Return the application with its guards in front.

    Args:
        make_service: called in the event loop when the server starts.
        keys: that open it.
        most_body: bytes of a body.
        hosts: host names that are answered to; None for any.
        telling: counters, shared with the service.
    """

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        app.state.service = await make_service()
        yield
        await app.state.service.close()

    app = FastAPI(
        title="smoothcert",
        description="Certified answers: within the radius the smoothed classifier answers this class.",
        lifespan=lifespan,
        docs_url=None,  # would load scripts from elsewhere
        redoc_url=None,
    )
    _add_errors(app)
    _add_states(app, telling)
    app.include_router(asking)
    app.include_router(looking)
    app.mount("/static", StaticFiles(directory=PAGE), name="static")
    return Guards(app, keys=keys, most_body=most_body, hosts=hosts, telling=telling)


def _add_errors(app: FastAPI) -> None:
    async def refused(request: Request, error: Any) -> Response:
        if isinstance(error, HttpError):
            return error.response()
        status = error.status_code
        answer = HttpError(status, _CODES.get(status, "malformed"), str(error.detail)).response()
        answer.headers.update(error.headers or {})
        return answer

    async def invalid(request: Request, error: Any) -> Response:
        return HttpError(422, "invalid", "; ".join(one["msg"] for one in error.errors())).response()

    app.add_exception_handler(HttpError, refused)
    app.add_exception_handler(HTTPException, refused)
    app.add_exception_handler(RequestValidationError, invalid)


def _add_states(app: FastAPI, telling: Telling) -> None:
    @app.get("/healthz", responses=answers(StatusAnswer))
    async def healthz() -> Response:
        """Say that the process answers."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", responses=answers(StatusAnswer, 503))
    async def readyz(request: Request) -> Response:
        """Say whether requests are taken."""
        service: Service | None = getattr(request.app.state, "service", None)
        fault = "starting" if service is None else service.fault
        if fault is not None:
            raise HttpError(503, "closing" if fault == "closing" else "not_ready", fault)
        return JSONResponse({"status": "ok"})

    @app.get("/metrics", responses=answers(None, media="text/plain"))
    async def metrics() -> Response:
        """Return counters for Prometheus."""
        return Response(telling.text(), media_type="text/plain; version=0.0.4")

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        """Return the page."""
        return FileResponse(PAGE / "index.html")
