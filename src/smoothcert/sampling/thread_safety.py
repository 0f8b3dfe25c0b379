"""Whether a model may be asked from several threads at once."""

from __future__ import annotations

import inspect
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import torch

Ask = Callable[[torch.Tensor], torch.Tensor]
Same = Callable[[torch.Tensor, torch.Tensor], bool]

_SUSPENDABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_MOST_CUTS = 64  # places of a call at which another one is made
_ROUNDS = 40  # of calls that run at the same time
_PATIENCE = 20.0  # times what a call takes, and a second more: then the other call waits for a lock that this one holds


def answers_hold_in_threads(ask: Ask, batch: torch.Tensor, other: torch.Tensor, same: Same) -> bool:
    """Return whether a call's answer stays the same while another thread makes a call of its own.

    A race of two threads shows a fault once in a hundred calls, if at all. So one call is stopped where the user's own
    code enters and leaves functions, and another thread asks about another batch in between; what is kept outside
    the call and read again, as by a hook that stores a tensor for `forward`, is then always the other's. Code that is
    not Python is only run from two threads at the same time.

    Args:
        ask: the model, batch -> answers.
        batch: what is asked.
        other: what the other thread asks; of the same shape.
        same: whether two answers are the same, up to rounding.
    """
    start = time.monotonic()
    expected, other_expected = ask(batch), ask(other)
    patience = 1.0 + _PATIENCE * (time.monotonic() - start)
    calls: list[_Call] = []

    def elsewhere() -> None:
        if not any(call.is_alive() for call in calls):  # one that waits for this thread would wait for ever
            calls.append(_Call(ask, other))
            calls[-1].start()
            calls[-1].join(patience)

    try:
        every = max(1, -(-_count_steps(lambda: ask(batch)) // _MOST_CUTS))
        found = _interrupted(lambda: ask(batch), elsewhere, every)
        if not same(found, expected) or not all(same(call.result(), other_expected) for call in calls):
            return False
        for _ in range(_ROUNDS):
            pair = [_Call(ask, batch), _Call(ask, other)]
            for call in pair:
                call.start()
            answers = [call.result() for call in pair]
            if not (same(answers[0], expected) and same(answers[1], other_expected)):
                return False
    except Exception:  # alone it answered; whatever it raised in company is the company's doing
        return False
    return True


class _Call(threading.Thread):
    """A call in a thread of its own."""

    def __init__(self, ask: Ask, batch: torch.Tensor) -> None:
        super().__init__(daemon=True)
        self._ask, self._batch, self._answer, self._error = ask, batch, torch.empty(0), None

    def run(self) -> None:
        torch.set_num_threads(1)  # the setting is kept per thread
        try:
            self._answer = self._ask(self._batch)
        except Exception as error:
            self._error = error  # type: ignore[assignment]

    def result(self) -> torch.Tensor:
        """Wait and return the answer; raise what was raised."""
        self.join()
        if self._error is not None:
            raise self._error
        return self._answer


def _count_steps(call: Callable[[], Any]) -> int:
    steps = 0

    def count() -> None:
        nonlocal steps
        steps += 1

    _interrupted(call, count, 1)
    return steps


def _interrupted(call: Callable[[], Any], interrupt: Callable[[], None], every: int) -> Any:
    """Return what a call returns, interrupted at every so many steps of code that is not torch's."""
    before, step = sys.getprofile(), 0

    def on_event(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal step
        if _is_users(frame):
            step += 1
            if step % every == 0:
                interrupt()

    sys.setprofile(on_event)  # Python itself does not call it while it runs
    try:
        return call()
    finally:
        sys.setprofile(before)


def _is_users(frame: FrameType) -> bool:
    """Return whether code is a user's: neither torch's nor this package's.

    Not in a generator, which Python cannot hand to another thread while it is entered or left.
    """
    if frame.f_code.co_flags & _SUSPENDABLE:
        return False
    return not str(frame.f_globals.get("__name__", "")).startswith(("torch.", "smoothcert."))
