"""Classifiers of a panel see the votes that each alone would have seen, and go on after a stop."""

import json
import random

import numpy as np
import pytest
import torch

from smoothcert.engines import TorchEngine
from smoothcert.ensembles import Panel, VotingEnsemble
from smoothcert.noise import Gaussian
from smoothcert.sampling import ImageSampling, PanelSampling, Phase, Sampler, chunk_borders

PHASES = (Phase("select", (100,)), Phase("estimate", chunk_borders(1_000)))
IMAGE = torch.tensor([0.3, 0.1])


class Recorder:
    """Decides at a given look and remembers everything it was shown."""

    def __init__(self, last):
        self.last, self.seen = last, []

    def absorb(self, look, counts):
        self.seen.append((look, counts.drawn, counts.votes.tolist(), counts.evaluations))
        return look == self.last


def linear(weights):
    model = torch.nn.Linear(2, 2, bias=False).eval()
    with torch.no_grad():
        model.weight.copy_(torch.tensor(weights))
    return model


MEMBERS = [linear([[1.0, 0.0], [0.0, 1.0]]), linear([[0.0, 2.0], [0.5, 0.0]])]


def sampler(model):
    return Sampler(TorchEngine(model, 2, IMAGE), Gaussian(1.0), seed=3, batch_size=256)


def together():
    return sampler(Panel(VotingEnsemble(MEMBERS)))


def panel(lasts):
    recorders = [Recorder(last) for last in lasts]
    own = [ImageSampling(4, IMAGE, PHASES, one, 2, place) for place, one in enumerate(recorders)]
    return PanelSampling(own), recorders


def drawn(sampling, source, shuffle=None, most=None):
    pending = []
    while (not sampling.decided or pending) and most != 0:
        while (chunk := sampling.next_chunk()) is not None:
            pending.append(chunk)
        chunk = pending.pop(shuffle.randrange(len(pending)) if shuffle else 0)
        sampling.take(chunk, source.draw([chunk])[0])
        most = None if most is None else most - 1
    return sampling


LASTS = (2, 9, 5)


@pytest.mark.parametrize("shuffled", [False, True])
def test_each_sees_what_it_alone_would_have_seen(shuffled):
    both, recorders = panel(LASTS)
    drawn(both, together(), random.Random(1) if shuffled else None)
    for place, model in enumerate(MEMBERS):
        alone = Recorder(LASTS[place])
        single = drawn(ImageSampling(4, IMAGE, PHASES, alone, 2), sampler(model))
        assert recorders[place].seen == alone.seen
        part = both.samplings[place]
        assert part.packed_votes == single.packed_votes
        assert (part.votes_counted, part.evaluations) == (single.votes_counted, single.evaluations)
    assert both.votes_counted == 100 + 9 * 64  # of the one that took longest
    assert len({tuple(map(str, one.seen[:3])) for one in recorders}) > 1  # they do not all vote alike


@pytest.mark.parametrize("chunks", [1, 3, 5, 8])
def test_a_restored_panel_ends_as_one_that_never_stopped(chunks):
    whole, expected = panel(LASTS)
    drawn(whole, together())
    stopped, _ = panel(LASTS)
    drawn(stopped, together(), most=chunks)
    again, recorders = panel(LASTS)
    again.restore(json.loads(json.dumps(stopped.snapshot())))
    assert again.votes_counted == stopped.votes_counted
    drawn(again, together())
    assert [one.seen for one in recorders] == [one.seen for one in expected]
    assert [one.packed_votes for one in again.samplings] == [one.packed_votes for one in whole.samplings]
    assert [one.evaluations for one in again.samplings] == [one.evaluations for one in whole.samplings]


def states(chunks, lasts=LASTS):
    return drawn(panel(lasts)[0], together(), most=chunks).snapshot()


def test_states_that_no_panel_leaves_are_refused():
    good = states(6)
    fewer, ahead, ended = states(5), states(7), states(None)
    for saved, said in (
        (good[:2], "states of 3 classifiers"),
        ("x", "states of 3 classifiers"),
        (ended, "nothing was under way"),
        ([good[0], fewer[1], good[2]], "do not all have the votes"),
        ([good[0], fewer[1], fewer[2]], None),  # the first was decided before
        ([good[0], good[1], ahead[2]], "do not all have the votes"),
    ):
        other, _ = panel(LASTS)
        if said is None:
            other.restore(saved)
        else:
            with pytest.raises(ValueError, match=said):
                other.restore(saved)


def test_a_decided_classifier_cannot_have_more_votes_than_are_drawn():
    saved = states(None)[:1] + states(1)[1:]
    with pytest.raises(ValueError, match="do not all have the votes"):
        panel(LASTS)[0].restore(saved)


def test_a_panel_of_counts_alone_has_no_state():
    both, _ = panel(LASTS)
    chunk = both.next_chunk()
    votes = together().draw([chunk])[0]
    both.take(chunk, type(votes)(votes.votes, votes.evaluations, 0.1))
    assert both.snapshot() is None
    assert np.array_equal(both.samplings[1]._votes, votes.votes[1])
