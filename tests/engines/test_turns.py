"""Tracing changes torch for all threads of the process, so nobody votes meanwhile; and nobody waits for ever."""

import os
import threading

import pytest
import torch
from torch import nn

from smoothcert.engines import TorchEngine
from smoothcert.engines.turns import alone, forward_pass, turn

IMAGE = torch.full((1, 4, 4), 0.5)


def network():
    return nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()


def test_votes_go_on_while_another_thread_makes_engines():
    """Without turns, torch's tracer meets the other thread's modules and raises."""
    engine, batch, errors, stop = TorchEngine(network(), 2, IMAGE), IMAGE.expand(32, 1, 4, 4), [], []
    expected = engine(batch.clone())

    def vote():
        try:
            while not stop:
                assert torch.equal(engine(batch.clone()), expected)
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=vote) for _ in range(2)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert not TorchEngine(network(), 2, IMAGE).as_is
    stop.append(True)
    for thread in threads:
        thread.join()
    assert not errors


def entered_elsewhere(context):
    """Whether another thread gets in within a moment, and let it go again."""
    inside, leave = threading.Event(), threading.Event()

    def enter():
        with context():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=enter, daemon=True)
    thread.start()
    found = inside.wait(0.2)
    leave.set()
    return found, thread


@pytest.mark.parametrize(
    "mine, theirs, both",
    [
        (forward_pass, forward_pass, True),
        (turn, forward_pass, True),
        (turn, turn, False),
        (forward_pass, alone, False),
        (alone, forward_pass, False),
        (alone, alone, False),
    ],
)
def test_who_may_be_inside_together(mine, theirs, both):
    with mine():
        found, thread = entered_elsewhere(theirs)
        assert found is both
    thread.join(5)
    assert not thread.is_alive()


def test_who_waits_to_trace_is_not_passed_by():
    """Workers overlap, so that without this there might never be a moment without a pass."""
    with forward_pass():
        _, tracer = entered_elsewhere(alone)
        found, voter = entered_elsewhere(forward_pass)
        assert not found
    for thread in (tracer, voter):
        thread.join(5)
        assert not thread.is_alive()


def test_a_model_may_ask_another_one_and_have_it_traced():
    with turn(), turn(), forward_pass(), alone(), alone(), forward_pass():
        pass
    assert entered_elsewhere(alone)[0]


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("held", [turn, alone, forward_pass])
def test_a_forked_child_waits_for_no_thread_that_it_does_not_have(held):
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with held():
            inside.set()
            leave.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(5)
    child = os.fork()
    if child == 0:
        with turn(), alone():
            os._exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    leave.set()
    thread.join()
