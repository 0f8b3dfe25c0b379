"""The parts of Ray execution that need no cluster."""

import fcntl
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch

import smoothcert as sc
from marks import needs_ray
from smoothcert.engines import versions_for
from smoothcert.errors import WorkerError
from smoothcert.execution.cluster import connection, crew, local_cluster
from smoothcert.execution.cluster.connection import connected
from smoothcert.execution.cluster.greeting import Greeting, ask, refusal
from smoothcert.execution.cluster.library import ray_library
from smoothcert.execution.cluster.orders import Job, Orders
from smoothcert.execution.cluster.vote_worker import VoteWorker
from smoothcert.execution.cluster.warden import LOCK, descendants
from smoothcert.execution.cluster.worker_setup import WorkerSetup
from smoothcert.sampling import Chunk

IMAGE = torch.full((1, 4, 4), 0.31)
VERSIONS = versions_for(None)


class Mean(torch.nn.Module):
    def forward(self, batch):
        mean = batch.flatten(1).mean(dim=1) - 0.3
        return torch.stack([-mean, mean], dim=1)


def source(model=None):
    classifier = sc.SmoothedClassifier(model or Mean().eval(), noise=sc.Gaussian(0.25), num_classes=2)
    return classifier.certification(
        sc.FixedSample(n0=10, n=100), alpha=0.001, seed=5, engine="eager", example=IMAGE
    )


@pytest.fixture(scope="module")
def control():
    return ask(source().sampler(64))


def test_a_worker_that_answers_alike_may_vote(control):
    assert refusal(Greeting("a", VERSIONS, control.answers.copy()), control, VERSIONS) is None
    rounded = control.answers * np.float32(1 + 1e-7)
    assert refusal(Greeting("a", VERSIONS, rounded), control, VERSIONS) is None


def test_a_worker_is_refused_with_the_reason(control):
    other = {**VERSIONS, "torch": "1.0"}
    told = refusal(Greeting("a", other), control, VERSIONS)
    assert f"torch 1.0 where the driver has {VERSIONS['torch']}" in told
    assert "smoothcert" not in told.partition(";")[0]
    assert refusal(Greeting("a", {}, fault="OSError: no"), control, VERSIONS) == "OSError: no"
    one = control.answers.copy()
    one[3] = one[3, :, ::-1]
    assert "votes otherwise than the driver on 1 of 64" in refusal(
        Greeting("a", VERSIONS, one), control, VERSIONS
    )
    nan = control.answers.copy()
    nan[5, 0, 0] = np.nan
    assert "on 1 of 64" in refusal(Greeting("a", VERSIONS, nan), control, VERSIONS)
    larger = refusal(Greeting("a", VERSIONS, control.answers * 1.5), control, VERSIONS)
    assert larger == "its logits differ from the driver's by more than rounding"
    fewer = refusal(Greeting("a", VERSIONS, control.answers[:9]), control, VERSIONS)
    assert "in the shape (9, 1, 2)" in fewer


@needs_ray
def test_a_worker_draws_what_a_sampler_here_draws(control):
    """The worker itself, in this process; small images travel with the order."""
    setup = WorkerSetup.of(source(), 64)
    worker = VoteWorker()
    greeting = pickle.loads(worker.greet(setup.packed()))
    assert refusal(greeting, control, setup.versions) is None
    chunks = [Chunk(IMAGE, 4, "estimate", number, 64) for number in range(3)]
    order, large = Orders().written(Job([0, 1, 2], chunks))
    assert large == []
    drawn = pickle.loads(worker.draw(order))
    for one, other in zip(drawn, source().sampler(64).draw(chunks), strict=True):
        np.testing.assert_array_equal(one.votes, other.votes)
        np.testing.assert_array_equal(one.classes, other.classes)
        np.testing.assert_array_equal(one.evaluations, other.evaluations)
    assert control.holds(pickle.loads(worker.answer_again()))


@needs_ray
def test_an_error_of_the_model_comes_back_as_itself():
    calls = []

    def model(batch):
        calls.append(len(batch))
        if len(calls) > 1:
            raise ArithmeticError("seven is odd")
        return torch.zeros(len(batch), 2)

    worker = VoteWorker()
    setup = WorkerSetup.of(source(), 64)
    worker.greet(setup.packed())
    worker._sampler.engine.forward = model
    order, _ = Orders().written(Job([0, 1], [Chunk(IMAGE, 4, "estimate", number, 64) for number in range(2)]))
    raised = pickle.loads(worker.draw(order))
    assert isinstance(raised, ArithmeticError)


class TooDarkError(Exception):
    def __init__(self, text, holds):
        super().__init__(text)
        self.holds = holds  # so it cannot be unpacked again


class Picky(Mean):
    """Cannot answer dark images."""

    def forward(self, batch):
        if bool((batch.flatten(1).mean(dim=1) < -10).any()):
            raise TooDarkError("too dark", lambda: None)
        return super().forward(batch)


@needs_ray
def test_a_fault_of_an_image_comes_back_beside_the_votes_of_others():
    worker = VoteWorker()
    worker.greet(WorkerSetup.of(source(Picky().eval()), 256).packed())
    dark = torch.full((1, 4, 4), -20.0)
    chunks = [Chunk(dark if index == 1 else IMAGE, index, "estimate", 0, 64) for index in range(3)]
    order, _ = Orders().written(Job([0, 1, 2], chunks))
    before, fault, after = pickle.loads(worker.draw(order))
    assert fault.reason == "TooDarkError: too dark"
    assert str(fault.error) == "the model raised TooDarkError: too dark; fix the model"
    honest = source().sampler(64).draw([chunks[0], chunks[2]])
    for one, other in zip((before, after), honest, strict=True):
        np.testing.assert_array_equal(one.classes, other.classes)


@needs_ray
def test_another_release_runs_nothing(monkeypatch):
    setup = WorkerSetup.of(source(), 64)
    packed = setup.packed()
    monkeypatch.setattr(
        "smoothcert.execution.cluster.vote_worker.versions_for", lambda package: {"torch": "1.0"}
    )
    monkeypatch.setattr(WorkerSetup, "sampler", lambda self: pytest.fail("it must not be built"))
    greeting = pickle.loads(VoteWorker().greet(packed))
    assert greeting.versions == {"torch": "1.0"}
    assert greeting.answers is None


@needs_ray
def test_what_killed_clusters_left_is_removed_and_others_stay(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    for name in ("1-killed", "2-at-work", f"{dead.pid}-never-started", f"{os.getpid()}-starting"):
        (tmp_path / name / "session").mkdir(parents=True)
    (tmp_path / "1-killed" / LOCK).touch()
    with (tmp_path / "2-at-work" / LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        local_cluster.clear_sessions(tmp_path)
        assert {path.name for path in tmp_path.iterdir()} == {"2-at-work", f"{os.getpid()}-starting"}


def test_the_folder_of_sessions_is_of_this_user_alone(tmp_path, monkeypatch):
    monkeypatch.setattr(local_cluster.tempfile, "gettempdir", lambda: "/tmp")
    folder = local_cluster.sessions_folder()
    assert folder.stat().st_mode & 0o077 == 0
    monkeypatch.setattr(local_cluster.os, "getuid", lambda: 12345678)
    with pytest.raises(WorkerError, match="belongs to somebody else"):
        local_cluster.sessions_folder()
    folder.with_name("smoothcert-ray-12345678").rmdir()


def test_descendants_are_found_at_any_depth():
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'input()'])"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE)
    try:
        found = []
        while len([one for one in found if one != child.pid]) < 1:
            found = descendants(child.pid)
        assert child.pid in descendants(os.getpid())
        assert set(found) <= set(descendants(os.getpid()))
    finally:
        child.communicate(b"\n")


@needs_ray
@pytest.mark.parametrize("address", ["127.0.0.1:1", "nowhere", "localhost:port"])
def test_an_address_where_nobody_is_is_told_at_once(address, monkeypatch):
    monkeypatch.setattr(ray_library(), "is_initialized", lambda: False)  # other tests may be connected
    with pytest.raises(WorkerError, match="cannot connect to the Ray cluster at"), connected(address, 1):
        pass


@needs_ray
def test_a_model_that_cannot_answer_the_control_question_any_more_is_told_from_a_lost_worker():
    worker = VoteWorker()
    worker.greet(WorkerSetup.of(source(), 64).packed())

    def gone(batch):
        raise ArithmeticError("seven is odd")

    worker._sampler.engine.forward = gone
    assert isinstance(pickle.loads(worker.answer_again()), ArithmeticError)


class HeldLibrary:
    """Ray in a process whose own `ray.init` connected it."""

    def __init__(self):
        self.killed = []

    def is_initialized(self):
        return True

    def kill(self, actor, no_restart):
        self.killed.append(actor)
        if actor == "gone":
            raise RuntimeError("no such actor")


def test_processes_end_with_their_execution_where_the_connection_stays(monkeypatch):
    library = HeldLibrary()
    for module in (connection, crew):
        monkeypatch.setattr(module, "ray_library", lambda: library)
    with sc.RayExecution() as execution:
        execution._idle += [("node", "CPU", "gone"), ("node", "CPU", "there")]
        with execution:
            pass
        assert library.killed == []  # an inner job leaves them to the next
    assert sorted(library.killed) == ["gone", "there"]
    assert execution._idle == []
