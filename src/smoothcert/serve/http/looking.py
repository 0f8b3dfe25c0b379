"""Paths that draw no votes: certificates given before, models, and images to try."""

from __future__ import annotations

import asyncio
from typing import Annotated

import torch
from fastapi import APIRouter, Query, Request
from fastapi import Path as PathPart
from starlette.responses import JSONResponse, Response

from smoothcert.data import Dataset
from smoothcert.serve.http.errors import HttpError
from smoothcert.serve.http.pictures import MOST_COPIES, encode_png, noisy_strip
from smoothcert.serve.http.schema import CertificateAnswer, ModelsAnswer, SamplesAnswer, answers
from smoothcert.serve.served_model import ServedModel
from smoothcert.serve.service import Service

_MOST_SAMPLES = 100  # listed: enough to choose from
Name = Annotated[str, PathPart(pattern=r"^[0-9a-f]{32}$", description="of a certificate")]
Model = Annotated[str, PathPart(max_length=100)]
Index = Annotated[int, PathPart(ge=0, le=2**31)]
Copies = Annotated[int, Query(ge=1, le=MOST_COPIES)]

routes = APIRouter(prefix="/v1")


@routes.get("/certificates/{name}", responses=answers(CertificateAnswer, 404, 422))
async def certificate(request: Request, name: Name) -> Response:
    """Return a certificate by its name."""
    service: Service = request.app.state.service
    found = await service.find(name)
    if found is None:
        raise HttpError(404, "not_found", "there is no such certificate")
    answer, status = found
    return JSONResponse(answer.told(service.name_of(answer.identity), status, repeated=True))


@routes.get("/models", responses=answers(ModelsAnswer))
async def models(request: Request) -> Response:
    """Return the models that are served, and the limits of a request."""
    service: Service = request.app.state.service
    limits = {
        "votes": service.limits.votes,
        "seconds": service.limits.seconds,
        "requests": service.limits.requests,
    }
    return JSONResponse({"models": [one.told() for one in service.models.values()], "limits": limits})


@routes.get("/models/{model}/samples", responses=answers(SamplesAnswer, 404, 422))
async def samples(request: Request, model: Model) -> Response:
    """Return which images there are to try."""
    images = _model(request, model).samples
    listed = [] if images is None else [_told(images, index) for index in _spread(len(images))]
    return JSONResponse({"samples": listed})


@routes.get("/models/{model}/samples/{index}", responses=answers(None, 404, 422, media="image/png"))
async def sample(request: Request, model: Model, index: Index) -> Response:
    """Return an image to try, as PNG."""
    image = _sample(_model(request, model), index)
    return Response(await asyncio.to_thread(encode_png, image), media_type="image/png")


@routes.get("/models/{model}/samples/{index}/noisy", responses=answers(None, 404, 422, media="image/png"))
async def noisy(request: Request, model: Model, index: Index, copies: Copies = 4) -> Response:
    """Return noisy copies of an image to try, side by side, as PNG."""
    served = _model(request, model)
    strip = await asyncio.to_thread(noisy_strip, _sample(served, index), served.base.noise, copies)
    return Response(strip, media_type="image/png")


def _model(request: Request, name: str) -> ServedModel:
    service: Service = request.app.state.service
    model = service.models.get(name)
    if model is None:
        raise HttpError(404, "not_found", "there is no such model")
    return model


def _sample(model: ServedModel, index: int) -> torch.Tensor:
    if model.samples is None or index >= len(model.samples):
        raise HttpError(404, "not_found", "there is no such sample")
    return model.samples.image(index)


def _spread(count: int) -> range:
    """Return some of many images, from all parts of the data."""
    return range(0, count, max(1, -(-count // _MOST_SAMPLES)))


def _told(images: Dataset, index: int) -> dict[str, object]:
    label = int(images.labels[index])
    return {"index": index, "label": label, "class_name": images.class_names[label]}
