"""From a body, JSON or a form, to what was asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import FormParser, parse_options_header

from smoothcert.certificates import PROCEDURES, Procedure
from smoothcert.errors import FormatError, InvalidArgumentError
from smoothcert.reading import parse_json
from smoothcert.serve.http.errors import HttpError
from smoothcert.serve.http.pictures import decode_upload
from smoothcert.visible import brief

_MOST_TEXT = 10_000  # bytes of a field that is no image
_MOST_FIELDS = 16


@dataclass(frozen=True)
class Asked:
    """What a body asks for.

    Args:
        values: fields but the image, as JSON has them.
        image: nested lists, or the bytes of a picture.
    """

    values: Mapping[str, Any]
    image: Any

    def pixels(self, input_shape: tuple[int, ...]) -> Any:
        """Return the image as an array of the model's shape."""
        if isinstance(self.image, bytes):
            return decode_upload(self.image, input_shape)
        shape, values = list(input_shape), _numbers(self.image, len(input_shape))
        if list(values.shape) != shape:
            raise HttpError(
                422, "invalid", f"image must be nested lists of shape {shape}, got {list(values.shape)}"
            )
        return values

    def refuse_others(self, known: tuple[str, ...]) -> None:
        """Refuse fields that the path does not take: a misspelt alpha must not be the default one."""
        for name in self.values:
            if name not in known:
                raise HttpError(
                    422, "invalid", f"unknown field {brief(name)}; known: image, {', '.join(known)}"
                )

    def text(self, name: str) -> str | None:
        """Return a text; None if it is left out."""
        value = self.values.get(name)
        if value is not None and not isinstance(value, str):
            raise HttpError(422, "invalid", f"{name} must be a text, got {brief(value)}")
        return value

    def number(self, name: str, default: float) -> float:
        """Return a number."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise HttpError(422, "invalid", f"{name} must be a number, got {brief(value)}")
        return value

    def whole(self, name: str, default: int, most: int) -> int:
        """Return an integer from 1 on."""
        value = self.values.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise HttpError(
                422, "invalid", f"{name} must be an integer from 1 to {most:,}, got {brief(value)}"
            )
        return value


def read_body(kind: str, content: bytes) -> Asked:
    """Read a body by its content type.

    Args:
        kind: the header.
        content: the whole body, within limits.
    """
    name, options = parse_options_header(kind)
    if name == b"application/json":
        return _of_json(content)
    if name == b"multipart/form-data" and options.get(b"boundary"):
        return _of_form(content, options[b"boundary"])
    raise HttpError(415, "unsupported_type", "send application/json or multipart/form-data")


def _of_json(content: bytes) -> Asked:
    body = _parsed(content, "the body")
    if not isinstance(body, dict):
        raise HttpError(400, "malformed", "the body must be a JSON object")
    if "image" not in body:
        raise HttpError(422, "invalid", "image is missing")
    return Asked({key: value for key, value in body.items() if key != "image"}, body["image"])


def _of_form(content: bytes, boundary: bytes) -> Asked:
    fields: dict[str, Any] = {}

    def on_field(field: Any) -> None:
        _add(fields, field.field_name, field.value or b"", is_file=False)

    def on_file(file: Any) -> None:
        file.file_object.seek(0)
        _add(fields, file.field_name, file.file_object.read(), is_file=True)

    most = len(content) + 1  # all in memory, where the body is already: nothing goes to a disk
    settings = {"MAX_MEMORY_FILE_SIZE": most, "MAX_BODY_SIZE": most}
    try:
        parser = FormParser("multipart/form-data", on_field, on_file, boundary=boundary, config=settings)
        parser.write(content)
        parser.finalize()
    except (FormParserError, ValueError, AttributeError) as error:
        raise HttpError(400, "malformed", "the form does not parse") from error
    if "image" not in fields:
        raise HttpError(
            422, "invalid", "image is missing: send it as a file of the form, complete to its end"
        )
    return Asked({key: value for key, value in fields.items() if key != "image"}, fields["image"])


def _add(fields: dict[str, Any], name: bytes | None, value: bytes, *, is_file: bool) -> None:
    key = (name or b"").decode("utf-8", "replace")
    if key in fields or len(fields) >= _MOST_FIELDS:
        raise HttpError(400, "malformed", f"the form has {brief(key)} twice, or too many fields")
    if is_file and key == "image":
        fields[key] = value
    elif len(value) > _MOST_TEXT:
        raise HttpError(
            413, "too_large", f"the form's field {brief(key)} is longer than {_MOST_TEXT:,} bytes"
        )
    elif key == "model":
        fields[key] = value.decode("utf-8", "replace")
    else:
        fields[key] = _parsed(value, f"the form's field {brief(key)}")


def _parsed(text: bytes, where: str) -> Any:
    try:
        return parse_json(text, where, FormatError)
    except (FormatError, UnicodeDecodeError) as error:
        raise HttpError(400, "malformed", f"{where} is no JSON: {error}") from error


def _numbers(value: Any, depth: int) -> np.ndarray[Any, Any]:
    """Return nested lists of numbers as an array; refuse texts, truth values and ragged lists."""
    inner = value
    for _ in range(depth):
        if not isinstance(inner, list) or not inner:
            raise HttpError(422, "invalid", f"image must be nested lists {depth} deep, none of them empty")
        inner = inner[0]
    try:
        array = np.asarray(value, dtype=np.float64)
        kind = np.asarray(value).dtype.kind
    except (ValueError, TypeError, OverflowError) as error:
        raise HttpError(422, "invalid", "image must be lists of numbers of equal length") from error
    if kind not in "iuf" or _holds_truth(value):
        raise HttpError(422, "invalid", "image must be lists of numbers")
    with np.errstate(over="ignore"):  # becomes infinite, which no model takes
        return array.astype(np.float32)


def _holds_truth(value: Any) -> bool:
    """Return whether a truth value is among nested numbers, of which NumPy would make 0 or 1."""
    return any(map(_holds_truth, value)) if isinstance(value, list) else isinstance(value, bool)


def read_procedure(value: Any) -> Procedure:
    """Return the procedure that an object names, with its options as on the command line."""
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        raise InvalidArgumentError('procedure must be an object such as {"name": "fixed", "n": 10000}')
    options = {key.replace("_", "-"): one for key, one in value.items() if key != "name"}
    try:
        return PROCEDURES[value["name"]].from_options(options)
    except (TypeError, ArithmeticError) as error:  # an option of a kind that its check did not think of
        raise InvalidArgumentError(f"procedure {brief(value)} cannot be built") from error
