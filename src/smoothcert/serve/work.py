"""One question under way: who waits for it, and what they have been told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from smoothcert.serve.drawing.live_sampling import LiveSampling
from smoothcert.serve.keeping.answer import Answer
from smoothcert.serve.keeping.folder import Terms
from smoothcert.store import RunDatabase


class LeftError(Exception):
    """A question was left before anything could be said about it."""


@dataclass(frozen=True)
class Ended:
    """How a question ended: the answer and its status."""

    answer: Answer
    status: str


class Work:
    """A question under way. Belongs to the event loop; other threads go through `tell`.

    Args:
        name: of the certificate.
        terms: what it is made under.
        loop: where the askers wait.
    """

    def __init__(self, name: str, terms: Terms, loop: asyncio.AbstractEventLoop) -> None:
        self.name, self.terms, self.loop = name, terms, loop
        self.ended: asyncio.Future[Ended] = loop.create_future()
        self.ended.add_done_callback(_seen)
        self.answer: Answer | None = None  # the last that was kept
        self.repeated = False  # whether it was there before anybody asked this time
        self.looked_up = asyncio.Event()  # set when `repeated` is known
        self.streamed = False  # whether every look is to be kept and told
        self.live: LiveSampling | None = None
        self.database: RunDatabase | None = None  # of the thread that writes
        self.left = False  # whether no more votes are drawn, because nobody waits
        self.gone = asyncio.Event()  # set when the service has forgotten it
        self._askers = 0
        self._listeners: set[asyncio.Queue[Answer]] = set()

    def join(self) -> bool:
        """Wait for it, too; return False where it was left by all others and is about to end."""
        if self.left:
            return False
        self._askers += 1
        return True

    def leave(self) -> None:
        """Wait no longer; when nobody does, no more votes are drawn."""
        self._askers -= 1
        if self._askers == 0:
            self.stop()

    def stop(self) -> None:
        """Draw no more votes."""
        self.left = True
        if self.live is not None:
            self.live.leave()

    def listen(self) -> asyncio.Queue[Answer]:
        """Return a queue of what is told from now on, the last first."""
        queue: asyncio.Queue[Answer] = asyncio.Queue()
        if self.answer is not None:
            queue.put_nowait(self.answer)
        self._listeners.add(queue)
        self.streamed = True
        return queue

    def drop(self, queue: asyncio.Queue[Answer]) -> None:
        """Forget a listener."""
        self._listeners.discard(queue)

    def tell(self, what: Callable[..., None], *arguments: Any) -> None:
        """Call one of the methods below in the event loop, from another thread."""
        with contextlib.suppress(RuntimeError):  # the loop is closed, and nobody waits
            self.loop.call_soon_threadsafe(what, *arguments)

    def looked(self, answer: Answer) -> None:
        """Tell what is proven by now."""
        self.answer = answer
        for queue in self._listeners:
            queue.put_nowait(answer)

    def conclude(self, answer: Answer, status: str) -> None:
        """Tell the end."""
        self.answer = answer
        if not self.ended.done():
            self.ended.set_result(Ended(answer, status))

    def fail(self, error: BaseException) -> None:
        """Tell that there will be no answer."""
        self.looked_up.set()
        if not self.ended.done():
            self.ended.set_exception(error)


class Seat:
    """The place of one asker at a question; left once, however often that is said.

    Args:
        work: the question, joined.
        joined: whether somebody else asked it already.
    """

    def __init__(self, work: Work, *, joined: bool) -> None:
        self.work, self._joined = work, joined
        self._here = True

    @property
    def repeated(self) -> bool:
        """Whether the certificate was there, or on its way, before it was asked for here."""
        return self._joined or self.work.repeated

    def leave(self) -> None:
        """Wait no longer."""
        if self._here:
            self._here = False
            self.work.leave()


def _seen(future: asyncio.Future[Ended]) -> None:
    """Ask for the error of a question that nobody waits for any more, so that it is no complaint at the end."""
    if not future.cancelled():
        future.exception()
