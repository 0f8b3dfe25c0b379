"""What the OpenAPI schema says of bodies and answers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from smoothcert.serve.http.pictures import MOST_COPIES


class _Told(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ErrorText(_Told):
    """Code for programs, message for people."""

    code: str
    message: str


class ErrorAnswer(_Told):
    """Every error."""

    error: ErrorText


class CertificateAnswer(_Told):
    """A certificate."""

    certificate: str
    status: str
    repeated: bool
    model: str | None
    outcome: str
    sentence: str
    class_: int | None = Field(alias="class")
    class_name: str | None
    radius: float
    p_lower: float
    samples: int
    votes: dict[str, list[int]]
    alpha: float
    norm: str
    noise: dict[str, Any]
    procedure: dict[str, Any]
    engine: str
    identity: str
    image: str


class PredictionAnswer(_Told):
    """A prediction."""

    model: str
    class_: int | None = Field(alias="class")
    class_name: str | None
    alpha: float
    n: int
    votes: list[int]
    image: str


class ModelAnswer(_Told):
    """A model."""

    name: str
    identity: str
    input_shape: list[int]
    num_classes: int
    class_names: list[str]
    noise: dict[str, Any]
    norm: str
    engine: str
    samples: int


class ModelsAnswer(_Told):
    """The models, and the limits of one request."""

    models: list[ModelAnswer]
    limits: dict[str, float]


class Sample(_Told):
    """An image to try."""

    index: int
    label: int
    class_name: str


class SamplesAnswer(_Told):
    """Images to try."""

    samples: list[Sample]


class StatusAnswer(_Told):
    """How the service is."""

    status: str


_ALPHA = {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1, "default": 0.001}
_VOTES = {"type": "integer", "minimum": 1}
_FIELDS: dict[str, dict[str, Any]] = {
    "model": {"type": "string"},
    "alpha": _ALPHA,
    "n": _VOTES,
    "n0": _VOTES,
    "beta": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
    "tolerance": {"type": "number", "minimum": 0},
    "copies": {"type": "integer", "minimum": 1, "maximum": MOST_COPIES, "default": 4},
    "procedure": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
}
_IMAGE = {"type": "array", "items": {}, "description": "nested lists of numbers in [0, 1]"}
STATUSES = {
    400: "malformed",
    401: "no valid key",
    403: "another origin or host",
    404: "nothing there",
    408: "too slow",
    413: "too large",
    415: "neither JSON nor a form",
    422: "invalid",
    429: "busy",
    500: "a fault of the service",
    503: "not now",
}


def body_of(fields: tuple[str, ...]) -> dict[str, Any]:
    """Return the OpenAPI description of a body with an image and these fields."""

    def schema(image: dict[str, Any]) -> dict[str, Any]:
        properties = {"image": image, **{name: _FIELDS[name] for name in fields}}
        return {
            "schema": {
                "type": "object",
                "properties": properties,
                "required": ["image"],
                "additionalProperties": False,
            }
        }

    forms = schema({"type": "string", "format": "binary"})
    return {
        "requestBody": {
            "required": True,
            "content": {"application/json": schema(_IMAGE), "multipart/form-data": forms},
        }
    }


def answers(
    model: type[BaseModel] | None, *statuses: int, media: str = ""
) -> dict[int | str, dict[str, Any]]:
    """Return the OpenAPI description of answers: one on success, the errors by status.

    Args:
        model: of the answer on success; None where it is no JSON.
        statuses: of errors, besides those that every path has.
        media: type of an answer that is no JSON.
    """
    good: dict[str, Any] = {"description": "the answer"}
    if model is None:
        good["content"] = {media: {"schema": {"type": "string"}}}
    else:
        good["model"] = model
    errors: dict[int | str, dict[str, Any]] = {
        status: {"description": STATUSES[status], "model": ErrorAnswer}
        for status in (400, 401, 403, 413, *statuses)
    }
    return {200: good, **errors}
