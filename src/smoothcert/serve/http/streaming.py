"""Server-sent events: the radius of a question while it grows."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from smoothcert.serve.http.errors import told
from smoothcert.serve.keeping.answer import STOPPED, Answer
from smoothcert.serve.service import Service
from smoothcert.serve.work import Ended, Seat, Work

_log = logging.getLogger("smoothcert.serve")
_ALIVE_SECONDS = 15.0
_END_SECONDS = 5.0  # for a stream at its limit to be written


def as_event(name: str, data: dict[str, Any]) -> bytes:
    """Return one event as it is sent."""
    return f"event: {name}\ndata: {json.dumps(data)}\n\n".encode()


class EventStream(StreamingResponse):
    """An answer of events, after which its question is left however it ended: also where nothing of it was sent.

    Args:
        content: the events.
        closing: what to do in the end.
    """

    def __init__(self, content: AsyncIterator[bytes], closing: AsyncExitStack) -> None:
        # Proxies must not wait for more.
        super().__init__(content, media_type="text/event-stream", headers={"X-Accel-Buffering": "no"})
        self._closing = closing

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the events."""
        async with self._closing:
            await super().__call__(scope, receive, send)


async def events(service: Service, seat: Seat, model: str) -> AsyncIterator[bytes]:
    """Yield what is proven at every look, then the certificate.

    Args:
        service: that draws.
        seat: at the question.
        model: name of the model.
    """
    work, until = seat.work, time.monotonic() + service.limits.seconds
    queue = work.listen()
    try:
        await work.looked_up.wait()
        yield as_event("begin", _begin(work, model, repeated=seat.repeated))
        while not work.ended.done():
            left = until - time.monotonic()
            if left <= 0:
                break
            answer = await _next(queue, work, min(left, _ALIVE_SECONDS))
            if answer is not None:
                yield as_event("look", _look(answer))
            elif not work.ended.done():
                yield b": alive\n\n"
        while not queue.empty():
            yield as_event("look", _look(queue.get_nowait()))
        seat.leave()
        ended = await _ended(work)
        yield as_event("end", ended.answer.told(model, ended.status, repeated=seat.repeated))
    except Exception as error:
        refusal = told(error, closing=service.closing)
        if refusal.status == 500:
            _log.error("stream of %s failed", work.name, exc_info=error)
        yield as_event("error", refusal.content())
    finally:
        work.drop(queue)


async def _next(queue: asyncio.Queue[Answer], work: Work, seconds: float) -> Answer | None:
    """Return the next look; None at the end, or if there is none for so long."""
    look: asyncio.Future[Answer] = asyncio.ensure_future(queue.get())
    either: list[asyncio.Future[Any]] = [look, work.ended]
    try:
        await asyncio.wait(either, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        return look.result() if look.done() else None
    finally:
        look.cancel()


async def _ended(work: Work) -> Ended:
    """Return how it ended; one that was left at its limit is told as it stands if others go on."""
    if work.left:
        await asyncio.wait([work.ended], timeout=_END_SECONDS)
    if not work.ended.done() and work.answer is not None:
        return Ended(work.answer, STOPPED)
    if not work.ended.done():
        raise TimeoutError
    return work.ended.result()


def _begin(work: Work, model: str, *, repeated: bool) -> dict[str, Any]:
    terms = work.terms.certification
    return {
        "certificate": work.name,
        "repeated": repeated,
        "model": model,
        "alpha": terms.alpha,
        "norm": terms.noise.norm,
        "noise": terms.law,
        "procedure": terms.procedure,
        "most_samples": sum(phase.votes for phase in terms.plan.phases),
        "image": work.terms.image_digest,
    }


def _look(answer: Answer) -> dict[str, Any]:
    votes = answer.votes["estimate"]
    return {"certificate": answer.name, "samples": answer.samples, "votes": votes, **answer.proven()}
