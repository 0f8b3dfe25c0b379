"""Paths that draw votes: predict, certify, and the stream."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import torch
from fastapi import APIRouter, Request
from starlette.responses import JSONResponse, Response

from smoothcert.certificates import Sequential
from smoothcert.serve.http.bodies import Asked, read_body, read_procedure
from smoothcert.serve.http.errors import HttpError, busy, told
from smoothcert.serve.http.pictures import MOST_COPIES, noisy_strip
from smoothcert.serve.http.schema import CertificateAnswer, PredictionAnswer, answers, body_of
from smoothcert.serve.http.streaming import EventStream, events
from smoothcert.serve.served_model import ServedModel
from smoothcert.serve.service import Service
from smoothcert.serve.work import Work

_PREDICT = ("model", "alpha", "n")
_CERTIFY = ("model", "alpha", "procedure")
_STREAM = ("model", "alpha", "n", "n0", "beta", "tolerance")
_NOISY = ("model", "copies")
_ALPHA, _VOTES, _COPIES = 0.001, 1_000, 4
_STREAMED_VOTES = 100_000
_REFUSALS = (404, 408, 415, 422, 429, 503)


@asynccontextmanager
async def _taken(request: Request) -> AsyncIterator[Service]:
    """Count a request among those being answered, or refuse it; tell errors as clients may know them."""
    service: Service = request.app.state.service
    if service.closing:
        raise HttpError(503, "closing", "the service is closing")
    if not service.enter():
        raise busy()
    try:
        yield service
    except Exception as error:
        answer = told(error, closing=service.closing)
        if answer.status == 500:
            raise
        raise answer from error
    finally:
        service.leave()


async def _asked(
    service: Service, request: Request, known: tuple[str, ...]
) -> tuple[Asked, ServedModel, torch.Tensor]:
    """Return what a request asks, of which model, about which image."""
    content, kind = await request.body(), request.headers.get("content-type", "")

    def read() -> tuple[Asked, ServedModel, torch.Tensor]:
        asked = read_body(kind, content)
        asked.refuse_others(known)
        model = service.model(asked.text("model"))
        if model is None:
            names, named = ", ".join(service.models), asked.text("model") is not None
            what = "there is no such model" if named else "several models are served, and none is named"
            raise HttpError(404, "not_found", f"{what}; send model, one of {names}")
        return asked, model, model.classifier.check_image(asked.pixels(model.input_shape))

    return await asyncio.to_thread(read)


routes = APIRouter(prefix="/v1")


@routes.post("/predict", responses=answers(PredictionAnswer, *_REFUSALS), openapi_extra=body_of(_PREDICT))
async def predict(request: Request) -> Response:
    """Answer with the smoothed classifier's class, or abstain; says nothing about images nearby."""
    async with _taken(request) as service:
        asked, model, image = await _asked(service, request, _PREDICT)
        n = asked.whole("n", min(_VOTES, service.limits.votes), service.limits.votes)
        alpha = asked.number("alpha", _ALPHA)
        found = await service.predict(model, image, n, alpha)
        _note(request, model, n)
        return JSONResponse(_prediction(found, model, n, alpha))


@routes.post("/certify", responses=answers(CertificateAnswer, *_REFUSALS), openapi_extra=body_of(_CERTIFY))
async def certify(request: Request) -> Response:
    """Certify an image; one that was asked about under the same terms gets the certificate it has."""
    async with _taken(request) as service:
        asked, model, image = await _asked(service, request, _CERTIFY)
        given = asked.values.get("procedure")
        procedure = _anytime(service, {}) if given is None else read_procedure(given)
        seat = await service.ask(model, image, procedure, asked.number("alpha", _ALPHA))
        try:
            ended = await asyncio.wait_for(asyncio.shield(seat.work.ended), service.limits.seconds)
        finally:
            seat.leave()
        _note(request, model, ended.answer.samples, certificate=seat.work.name)
        return JSONResponse(ended.answer.told(model.name, ended.status, repeated=seat.repeated))


@routes.post(
    "/certify/stream",
    responses=answers(None, *_REFUSALS, media="text/event-stream"),
    openapi_extra=body_of(_STREAM),
)
async def stream(request: Request) -> Response:
    """Certify an image and tell the radius as it grows; leave whenever you like and keep what was told."""
    closing = AsyncExitStack()
    try:
        service = await closing.enter_async_context(_taken(request))
        asked, model, image = await _asked(service, request, _STREAM)
        options = {name: asked.values[name] for name in _STREAM[2:] if name in asked.values}
        alpha = asked.number("alpha", _ALPHA)
        seat = await service.ask(model, image, _anytime(service, options), alpha)
        closing.callback(seat.leave)
        closing.callback(_note_stream, request, model, seat.work)
    except BaseException as error:
        await closing.__aexit__(type(error), error, error.__traceback__)
        raise
    return EventStream(events(service, seat, model.name), closing)


@routes.post("/noisy", responses=answers(None, *_REFUSALS, media="image/png"), openapi_extra=body_of(_NOISY))
async def noisy(request: Request) -> Response:
    """Return noisy copies of an image side by side, to look at; no vote has their noise."""
    async with _taken(request) as service:
        asked, model, image = await _asked(service, request, _NOISY)
        copies = asked.whole("copies", _COPIES, MOST_COPIES)
        strip = await asyncio.to_thread(noisy_strip, image, model.base.noise, copies)
        return Response(strip, media_type="image/png")


def _anytime(service: Service, options: dict[str, Any]) -> Sequential:
    """Return the anytime radius, as large as the service allows where nothing is said."""
    most = service.limits.votes - int(options["n0"] if type(options.get("n0")) is int else 100)
    procedure = read_procedure({"name": "sequential", "n": max(1, min(_STREAMED_VOTES, most)), **options})
    assert isinstance(procedure, Sequential)
    return procedure


def _prediction(found: Any, model: ServedModel, n: int, alpha: float) -> dict[str, Any]:
    predicted = found.prediction.predicted
    return {
        "model": model.name,
        "class": predicted,
        "class_name": None if predicted is None else model.class_names[predicted],
        "alpha": alpha,
        "n": n,
        "votes": found.prediction.counts.votes.tolist(),
        "image": found.image,
    }


def _note_stream(request: Request, model: ServedModel, work: Work) -> None:
    """Note a stream at its end, when the votes behind what it told last are known."""
    votes = 0 if work.answer is None else work.answer.samples
    _note(request, model, votes, certificate=work.name)


def _note(request: Request, model: ServedModel, votes: int, **more: str) -> None:
    """Note what the log says of the request besides path and status."""
    request.scope["told"] = {"model": model.name, "votes": votes, **more}
