"""One model for all tests of the service."""

import threading

import pytest

import smoothcert as sc
from serving import served
from smoothcert.sampling import Sampler
from smoothcert.serve.served_model import ServedModel


@pytest.fixture(scope="session")
def model(model_folder):
    """The small network on the digits, run by torch: the fastest to start."""
    return ServedModel.load("digits", model_folder, engine="torch").with_samples(None, None)


@pytest.fixture
def images(digits):
    return [digits.image(index).tolist() for index in range(6)]


@pytest.fixture
def running(model, tmp_path):
    with served({"digits": model}, tmp_path / "served") as service:
        yield service


@pytest.fixture(scope="session")
def growing(model, digits):
    """An image whose radius grows for long: nine votes in ten are for its class."""
    few = [digits.image(index) for index in range(24)]
    found = model.classifier.certify(few, sc.FixedSample(n0=64, n=320), seed=1, engine="torch")
    shares = [int(one.counts.votes.max()) / one.counts.drawn for one in found]
    return few[min(range(len(few)), key=lambda place: abs(shares[place] - 0.9))].tolist()


class Pace:
    """Lets workers draw only as many batches as were allowed, until all are."""

    def __init__(self):
        self._allowed, self._condition = float("inf"), threading.Condition()

    def hold(self, batches):
        with self._condition:
            self._allowed = batches

    def free(self):
        with self._condition:
            self._allowed = float("inf")
            self._condition.notify_all()

    def wait(self):
        with self._condition:
            assert self._condition.wait_for(lambda: self._allowed > 0, timeout=60)
            self._allowed -= 1


@pytest.fixture
def pace(monkeypatch):
    """Batches are drawn as they come, unless held."""
    pace, draw = Pace(), Sampler.draw

    def paced(self, chunks):
        pace.wait()
        return draw(self, chunks)

    monkeypatch.setattr(Sampler, "draw", paced)
    yield pace
    pace.free()
