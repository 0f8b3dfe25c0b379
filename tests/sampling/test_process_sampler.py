"""Workers in processes of their own: the same votes as threads, clear errors, and nothing left behind."""

import contextlib
import logging
import multiprocessing
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.engines import build_engine, engine_rule
from smoothcert.errors import ModelOutputError, UnsoundModelError, WorkerError
from smoothcert.sampling import (
    Chunk,
    ImageSampling,
    Phase,
    ProcessSampler,
    Sampler,
    WorkerPool,
    chunk_borders,
)
from smoothcert.sampling.schedule import run_schedule

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forked workers are for Linux")

IMAGE = torch.tensor([0.3, 0.6])


def in_python(batch):
    """A classifier that never lets go of the interpreter lock: three half-planes, row by row."""
    rows = []
    for x, y in batch.tolist():
        rows.append([x - y, y - x, x + y - 1.2])
    return np.array(rows, dtype=np.float32)


def in_torch():
    """The same half-planes without a line of own code, which threads share."""
    model = torch.nn.Linear(2, 3).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor([[1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]]))
        model.bias.copy_(torch.tensor([0.0, 0.0, -1.2]))
    return model


def honest_at_first(act):
    """Answer in this process and once in a child, as a model that starts well; then act."""
    parent, calls = os.getpid(), []

    def model(batch):
        calls.append(os.getpid() != parent)
        return in_python(batch) if sum(calls) < 2 else act(batch)

    return model


def maker(model=in_python, on_nan="raise"):
    def make():
        engine = build_engine(engine_rule("auto", model, IMAGE), model, 3, IMAGE)
        return Sampler(engine, sc.Gaussian(0.5), seed=3, batch_size=128, on_nan=on_nan)

    return make


def chunks(count=5):
    return [Chunk(IMAGE * (1 + i % 2), i % 2, "estimate", i, 64 - i) for i in range(count)]


class EveryLook:
    """Never decides before the last look, and remembers every look."""

    def __init__(self):
        self.seen = []

    def absorb(self, look, counts):
        self.seen.append((look, counts.drawn, counts.votes.tolist(), counts.evaluations))
        return look == 12


def looks(workers, make=None):
    phases = (Phase("select", (100,)), Phase("estimate", chunk_borders(64 * 12)))
    made = [EveryLook() for _ in range(6)]
    with WorkerPool(make or maker(), workers) as pool:
        samplings = (ImageSampling(i, IMAGE, phases, one, 3) for i, one in enumerate(made))
        list(run_schedule(samplings, pool, batch_size=128))
    return [one.seen for one in made]


def children():
    """Process numbers of all children of this process; a thread may end while they are listed."""
    found = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            found |= set((task / "children").read_text().split())
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind():
    """After every test: no child, no file of a pipe, the thread setting as found."""
    threads, known, files = torch.get_num_threads(), children(), len(list(Path("/proc/self/fd").iterdir()))
    yield
    assert children() == known
    assert len(list(Path("/proc/self/fd").iterdir())) == files
    assert torch.get_num_threads() == threads


def test_the_same_votes_as_threads():
    expected = looks(1)
    assert looks(2) == expected
    assert looks(3) == expected
    assert looks(2, maker(in_torch())) == expected
    assert len(expected[0]) == 13


def test_votes_are_drawn_in_another_process_with_one_thread():
    def telling(batch):
        answer = np.zeros((len(batch), 3), dtype=np.float32)
        answer[:, 0 if os.getpid() != parent else 1] = 1
        answer[:, 2] = 2 * (torch.get_num_threads() != 1)
        return answer

    parent = os.getpid()
    child = ProcessSampler(maker(telling))
    try:
        assert [part.votes.tolist() for part in child.draw(chunks(2))] == [[[64, 0, 0]], [[63, 0, 0]]]
    finally:
        child.close()


def test_a_certificate_is_the_same_whatever_the_workers(monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.pool.WORTH_SECONDS", 0.0)
    classifier = sc.SmoothedClassifier(in_python, sc.Gaussian(0.5), 3)
    how = {"procedure": sc.FixedSample(n=2_000), "seed": 5}
    found = [classifier.certify(IMAGE, workers=workers, **how) for workers in (1, 2)]
    assert found[0].counts == found[1].counts
    assert found[0].radius == found[1].radius


def test_nan_is_the_error_it_is_in_a_thread_or_is_counted():
    def doubtful(batch):
        return np.where(batch[:, :1].numpy() > 0.5, np.nan, in_python(batch))

    with pytest.raises(ModelOutputError, match="NaN or infinite"):
        looks(2, make=maker(doubtful))
    assert looks(2, maker(doubtful, "count")) == looks(1, maker(doubtful, "count"))


class OddError(Exception):
    """Cannot be built from its text alone, so it cannot be unpickled."""

    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


@pytest.mark.parametrize(
    "error, expected, message",
    [
        (KeyError("weights"), KeyError, "weights"),
        (OddError("this", "that"), WorkerError, "the model raised OddError: this and that"),
        (SystemExit(3), SystemExit, "3"),
    ],
)
def test_errors_of_the_model_reach_the_caller(error, expected, message):
    def broken(batch):
        raise error

    with pytest.raises(expected, match=message):
        looks(2, make=maker(honest_at_first(broken)))


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM, "exit"])
def test_a_child_that_dies_is_an_error_that_says_so(how):
    def deadly(batch):
        if how == "exit":
            os._exit(7)
        return os.kill(os.getpid(), how)

    expected = "exit code 7" if how == "exit" else f"signal {int(how)}"
    with pytest.raises(WorkerError, match=rf"worker process \d+ .*{expected}.*fewer workers"):
        looks(2, make=maker(honest_at_first(deadly)))


def test_a_child_killed_between_two_jobs_is_noticed():
    child = ProcessSampler(maker())
    try:
        child.draw(chunks())
        os.kill(child.pid, signal.SIGKILL)
        with pytest.raises(WorkerError, match="signal 9"):
            child.draw(chunks())
    finally:
        child.close()


def test_ctrl_c_does_not_reach_the_children():
    child = ProcessSampler(maker())
    try:
        os.kill(child.pid, signal.SIGINT)
        assert len(child.draw(chunks())) == 5
    finally:
        child.close()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_children_end_with_a_parent_that_is_killed():
    """Two children, because the second one inherits the parent's end of the first one's pipe."""
    pipe, theirs = multiprocessing.Pipe()
    parent = os.fork()
    if parent == 0:
        try:
            made = [ProcessSampler(maker()) for _ in range(2)]
            theirs.send([child.pid for child in made])
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    pids = pipe.recv()
    os.waitpid(parent, 0)
    theirs.close()
    # The children hold the other end of this pipe too: it ends when the last of them has.
    assert pipe.poll(4.0)
    with pytest.raises(EOFError):
        pipe.recv()
    pipe.close()
    assert len(pids) == 2


def test_where_forking_fails_one_worker_does_it_all(monkeypatch, caplog):
    def refused(make):
        if made:
            raise OSError("out of processes")
        made.append(ProcessSampler(make))
        return made[0]

    made, expected = [], looks(1)
    monkeypatch.setattr("smoothcert.sampling.pool.ProcessSampler", refused)
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        assert looks(2) == expected
    assert [record.getMessage() for record in caplog.records] == [
        "the model has code of your own, which threads do not share, nor can processes ask it (out of processes); one "
        "worker does"
    ]


def test_little_work_is_not_worth_a_process(monkeypatch):
    monkeypatch.setattr(
        "smoothcert.sampling.pool.ProcessSampler", lambda make: pytest.fail("started a process")
    )
    with WorkerPool(maker(), 2, votes_planned=10) as pool:
        assert pool.workers == 1


def test_a_model_without_own_code_is_shared_by_threads(monkeypatch):
    monkeypatch.setattr(
        "smoothcert.sampling.pool.ProcessSampler", lambda make: pytest.fail("started a process")
    )
    with WorkerPool(maker(in_torch()), 2) as pool:
        assert pool.workers == 2


def test_a_child_that_changes_its_mind_is_noticed_at_the_end():
    with pytest.raises(UnsoundModelError, match="before the first vote"):
        looks(2, make=maker(honest_at_first(lambda batch: -in_python(batch))))
