"""What a model answers, as logits: the one place that says which part of an answer they are.

The rule looks at the answer's form alone, never at its values, and not at the number of classes: a network that returns
one score and two features for each image would otherwise have its features certified.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch

from smoothcert.errors import ModelOutputError, UnsoundModelError
from smoothcert.networks.reading.arrays import array_of, told

_NARROW = (torch.bfloat16, torch.float16, torch.bool)  # which float32 holds exactly
_WHOLE = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)
_KNOWN = (*_NARROW, torch.float32, torch.float64, *_WHOLE)
_ITSELF = "the answer itself"
_FIX = "let it return its logits alone, one row per image (such as lambda batch: model(batch)[0])"
_DEPTH = 8  # of tuples in tuples

_asked = threading.local()


def answer_of(model: Any, batch: torch.Tensor) -> torch.Tensor:
    """Call a model and return its logits as it gave them, found in whatever it answers with.

    An array is taken as it is; of anything else its part `logits`, by attribute or key; else, of a tuple, list or
    dict, the only part that is a table of one row per image, or an object with `logits`. All else is refused, and so is
    an answer with a part that cannot be read. Inside `same_places`, so is a model whose logits were elsewhere before.

    Args:
        model: any callable.
        batch: what it is called with.
    """
    answer = model(batch)
    if isinstance(answer, torch.fx.Proxy) or torch.compiler.is_compiling():
        return answer  # type: ignore[no-any-return]  # a tracer's stand-in, of networks of known modules only
    place, logits = _found(answer, len(batch))
    known = getattr(_asked, "places", None)
    if known is not None and known.setdefault(id(model), place) != place:
        raise UnsoundModelError(
            f"the model's logits were {known[id(model)]} before and are {place} now, so what it answers changes from "
            "call to call; let it always return the same kind of answer"
        )
    return logits if logits is answer else logits.to(batch.device)


def as_logits(answer: Any, rows: int) -> torch.Tensor:
    """Return the logits of an answer as a tensor that tells apart all numbers that the model told apart.

    Whole numbers stay whole and Python's numbers keep 64 bits: rounded to float32, the best class could become
    another.

    Args:
        answer: what a model returned; which part of it counts, `answer_of` says.
        rows: images that it was asked about.
    """
    tensor = answer if isinstance(answer, torch.Tensor) else _found(answer, rows)[1]
    if tensor.is_complex():
        raise ModelOutputError("the model answers with complex numbers; let it answer with real logits")
    if tensor.dtype not in _KNOWN:
        raise ModelOutputError(
            f"the model answers with numbers of type {tensor.dtype}; let it answer with float32 logits"
        )
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_meta:
        raise ModelOutputError(
            f"the model answers with a tensor of {tensor.layout} on {tensor.device}; let it answer with a dense one"
        )
    return tensor.float() if tensor.dtype in _NARROW else tensor


@contextmanager
def same_places(places: dict[int, str]) -> Iterator[None]:
    """Refuse, inside and in this thread, models whose logits are elsewhere in their answer than they were before.

    Args:
        places: where the logits of each model were, by its id; grows. Keep it no longer than the models.
    """
    before = getattr(_asked, "places", None)
    _asked.places = places
    try:
        yield
    finally:
        _asked.places = before


def _found(answer: Any, rows: int) -> tuple[str, torch.Tensor]:
    """Return where the logits of an answer are, and the logits."""
    array = array_of(answer)
    if array is not None:
        return _ITSELF, array
    named = answer.get("logits") if isinstance(answer, Mapping) else getattr(answer, "logits", None)
    if named is not None:
        array = array_of(named)
        if array is None:
            raise ModelOutputError(
                f"the model's answer, {told(answer)}, has a part `logits` that is no array but {told(named)}; {_FIX}"
            )
        return f"the logits of a {type(answer).__name__}", array
    tables = list(_tables(answer, rows))
    if len(tables) == 1:
        return tables[0]
    what = f"the model answered a batch of {rows} images with {told(answer)}"
    if not isinstance(answer, Mapping | list | tuple):
        raise ModelOutputError(f"{what}, which is no array of numbers and has no `logits`; {_FIX}")
    count = f"{len(tables)} parts have" if tables else "no part has"
    raise ModelOutputError(
        f"{what}, where {count} the shape ({rows}, classes) and none is called `logits`; {_FIX}"
    )


def _tables(answer: Any, rows: int, depth: int = 0) -> Iterator[tuple[str, torch.Tensor]]:
    """Yield what may be the logits in a tuple, list or dict at any depth, each with where it is."""
    if not isinstance(answer, Mapping | list | tuple):
        return
    parts = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
    for key, part in parts:
        where = f"part {key!r} of a {type(answer).__name__}"
        array = array_of(part)
        if array is not None:
            if array.dim() == 2 and array.shape[0] == rows:
                yield where, array
        elif isinstance(part, Mapping | list | tuple) and depth < _DEPTH:
            yield from ((f"{place} in {where}", inner) for place, inner in _tables(part, rows, depth + 1))
        elif (logits := array_of(getattr(part, "logits", None))) is not None:
            # Of any shape: a table beside it is not what the model calls its logits.
            yield f"the logits of {where}", logits
        elif not _holds_no_table(part, rows):
            raise ModelOutputError(
                f"the model's answer has a {where} that cannot be read, {told(part)}, and that may be where its logits "
                f"are; {_FIX}"
            )


def _holds_no_table(part: Any, rows: int) -> bool:
    """Return whether something without numbers surely holds no logits: nothing, a text, an array of another shape."""
    if part is None or isinstance(part, str | bytes | int | float | complex):
        return True
    shape = getattr(part, "shape", None)  # of texts, dates or objects
    return isinstance(shape, tuple) and not (len(shape) == 2 and shape[0] == rows)
