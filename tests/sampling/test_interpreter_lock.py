"""When workers become processes: decided from timings, which are made up here."""

import logging
import threading

import pytest
import torch
from torch import nn

from smoothcert.engines import TorchEngine
from smoothcert.sampling import interpreter_lock
from smoothcert.sampling.interpreter_lock import WORTH_SECONDS, holds_lock, measure, needs_processes


class Clock:
    """Time that passes only when a classifier is called; calls at the same time take turns, or do not."""

    def __init__(self, each, held):
        self.each, self.held, self.now = each, held, 0.0
        self.callers = set()
        self.lock = threading.Lock()

    def call(self):
        with self.lock:
            self.callers.add(threading.current_thread())
            others = sum(thread is not threading.main_thread() for thread in self.callers)
            # The callers so far: main, one alone, then two together.
            together = others > 1
            self.now += self.each / (2 if together and not self.held else 1)

    def __call__(self):
        return self.now


@pytest.mark.parametrize("held", [True, False])
@pytest.mark.parametrize("each", [1e-5, 0.01, 2.0])
def test_calls_of_two_threads_are_compared_with_those_of_one(each, held):
    clock = Clock(each, held)
    assert measure(clock.call, 10 * WORTH_SECONDS / each, clock) is (not held)


def test_little_work_is_not_measured():
    clock = Clock(0.01, held=True)
    assert measure(clock.call, 0.9 * WORTH_SECONDS / 0.01, clock) is None
    assert clock.callers == {threading.main_thread()}


def test_a_call_that_fails_decides_nothing():
    def broken():
        raise ValueError("no")

    assert measure(broken, 1e9) is None


@pytest.mark.parametrize("alone, together, held", [(1.0, 1.05, False), (1.0, 1.4, False), (1.0, 1.9, True)])
def test_the_rule(alone, together, held):
    assert holds_lock(alone, together) is held


def engine(model=lambda batch: batch):
    return TorchEngine(model, 2, torch.zeros(2))


def test_a_callable_is_measured_once(monkeypatch):
    calls = []
    monkeypatch.setattr(interpreter_lock, "measure", lambda call, planned: calls.append(planned) or False)
    monkeypatch.setattr(interpreter_lock, "can_fork", lambda: True)
    one = engine()
    assert one.releases_lock is None
    assert needs_processes(one, 6_400, workers=2)
    assert needs_processes(one, 6_400, workers=2)
    assert calls == [100]
    assert one.releases_lock is False
    assert not needs_processes(one, 6_400, workers=1)


def test_too_little_work_is_asked_about_again(monkeypatch):
    answers = [None, True]
    monkeypatch.setattr(interpreter_lock, "measure", lambda *_: answers.pop(0))
    one = engine()
    assert not needs_processes(one, 1, workers=2)
    assert one.releases_lock is None
    assert not needs_processes(one, 10**9, workers=2)
    assert one.releases_lock is True


def test_a_module_is_never_measured(monkeypatch):
    monkeypatch.setattr(interpreter_lock, "measure", lambda *_: pytest.fail("measured"))
    assert not needs_processes(engine(nn.Identity().eval()), 10**9, workers=2)


def test_where_nothing_can_be_forked_threads_do_it_and_one_line_says_so(monkeypatch, caplog):
    monkeypatch.setattr(interpreter_lock, "can_fork", lambda: False)
    one = engine()
    one.releases_lock = False
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        assert not needs_processes(one, 10**9, workers=2)
    assert len(caplog.records) == 1
    assert "workers are threads" in caplog.records[0].getMessage()


def test_a_real_callable_is_called_with_rows_enough(monkeypatch):
    rows = []
    one = engine(lambda batch: rows.append(len(batch)) or batch)
    assert not needs_processes(one, 1, workers=2)
    assert set(rows) == {64}
    assert one.releases_lock is None
