"""States of images under way: votes and nothing else, and only such as the sampling can have drawn."""

import base64
import json

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.engines import CallableEngine
from smoothcert.noise import Gaussian
from smoothcert.sampling import ImageSampling, Phase, Sampler, chunk_borders, pack

PHASES = (Phase("select", (100,)), Phase("estimate", chunk_borders(1_000)))
IMAGE = torch.tensor([0.1, 0.2])


class After:
    """Decides at one look."""

    def __init__(self, last):
        self.last, self.seen = last, []

    def absorb(self, look, counts):
        self.seen.append((look, counts.drawn, counts.votes.tolist()))
        return look == self.last


def three(batch):
    return torch.stack([batch[:, 0], batch[:, 1], -batch[:, 0]], dim=1)


def sampling(last=9):
    return ImageSampling(4, IMAGE, PHASES, After(last), 3)


@pytest.fixture
def state():
    """After five chunks: two that select, three that estimate."""
    sampler = Sampler(CallableEngine(three, 3, IMAGE), Gaussian(1.0), seed=3, batch_size=256)
    begun = sampling()
    for _ in range(5):
        chunk = begun.next_chunk()
        begun.take(chunk, sampler.draw([chunk])[0])
    return json.loads(json.dumps(begun.snapshot()))


def text(values, kind=np.uint8):
    return base64.b85encode(pack(np.asarray(values, dtype=kind).tobytes())).decode()


def votes(select=100, estimate=192, klass=0):
    return {"select": text([klass] * select), "estimate": text([klass] * estimate)}


def test_counts_are_those_of_the_votes(state):
    """Whoever changes a state changes votes: counts without votes have no place in it."""
    assert set(state) == {"votes", "evaluations", "seconds"}
    again = sampling()
    again.restore({**state, "votes": votes(klass=2)})
    assert again.decision.seen[-1] == (3, 192, [0, 0, 192])
    assert again.votes_counted == 292


DAMAGES = {
    "no votes": ({"votes": []}, "no votes by phase"),
    "votes of two": ({"votes": [votes(), votes()]}, "no votes by phase"),
    "no phases": ({"votes": {}}, "phases that the procedure does not have"),
    "another order": ({"votes": dict(reversed(votes().items()))}, "not in this order"),
    "another phase": (
        {"votes": {**votes(), "more": text([0])}},
        "phases that the procedure does not have",
    ),
    "a phase cut short": ({"votes": votes(select=64)}, "left before its end"),
    "too many votes of a phase": ({"votes": votes(select=101)}, "unpack to more than the 100 bytes"),
    "a vote inside a chunk": ({"votes": votes(estimate=191)}, "inside a chunk"),
    "more chunks than paid for": ({"votes": votes(estimate=256)}, "evaluations are not those"),
    "a class that there is not": ({"votes": votes(klass=3)}, "classes that do not exist"),
    "gigabytes": (
        {"votes": {"select": text(np.zeros(10**8)), "estimate": text([])}},
        "unpack to more than the 100 bytes",
    ),
    "bytes after the votes": (
        {"votes": {"select": votes()["select"] + "00000", "estimate": text([])}},
        "4 bytes follow them",
    ),
    "negative passes": ({"evaluations": text([-1] * 5, np.int64)}, "evaluations are not those"),
    "passes of another kind": ({"evaluations": [64] * 5}, "stored as text"),
    "huge passes": ({"evaluations": text([2**40] * 5, np.int64)}, "evaluations are not those"),
    "endless seconds": ({"seconds": 1e300}, "seconds must be a number"),
    "seconds of nobody": ({"seconds": [1.0]}, "seconds must be a number"),
    "a field more": ({"drawn": 292}, "a state has the fields"),
}


@pytest.mark.parametrize("what", DAMAGES)
def test_what_no_sampling_saves_is_refused(what, state):
    change, said = DAMAGES[what]
    with pytest.raises(ValueError, match=said):
        sampling().restore({**state, **change})


@pytest.mark.parametrize("last, said", [(2, "beyond the look that decided"), (3, "nothing was under way")])
def test_votes_up_to_or_beyond_a_decision_are_refused(last, said, state):
    with pytest.raises(ValueError, match=said):
        sampling(last).restore(state)


def test_a_sampling_of_counts_alone_has_no_state(state):
    begun, chunk = sampling(), sampling().next_chunk()
    sampler = Sampler(CallableEngine(three, 3, IMAGE), Gaussian(1.0), seed=3, batch_size=256)
    drawn = sampler.draw([chunk])[0]
    begun.take(begun.next_chunk(), type(drawn)(drawn.votes, drawn.evaluations, 0.1))
    assert begun.snapshot() is None


def test_a_damaged_state_is_drawn_anew(state):
    # Of torch's own: the states of a user's own code are never continued.
    classifier = sc.SmoothedClassifier(torch.nn.Linear(2, 3).eval(), Gaussian(1.0), 3)
    how = {"alpha": 0.001, "seed": 3, "engine": "auto", "example": IMAGE}
    certification = classifier.certification(sc.FixedSample(n0=100, n=1_000), **how)
    good = {"model": certification.model, "engine": "torch", "sampling": state}
    assert certification.sampling(4, IMAGE, good).votes_counted == 292
    others = (
        {**good, "model": "other"},
        {**good, "sampling": {}},
        {**good, "model": 5},
        {**good, "engine": "eager"},
    )
    others += ({key: good[key] for key in ("model", "sampling")}, [], "x", None)
    for saved in others:
        assert certification.sampling(4, IMAGE, saved).votes_counted == 0
