"""A model's identity changes with what decides its answers."""

import torch

from smoothcert import Panel, VotingEnsemble
from smoothcert.certificates.identity import identities
from truth import half_space


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, batch):
        return batch * self.factor


def linear(seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return torch.nn.Linear(2, 2).eval()


def test_closures_objects_and_modules_of_other_content_differ():
    weights, net = torch.ones(2), linear(0)
    same = [
        (half_space(0.1), half_space(0.1)),
        (Scaled(2), Scaled(2)),
        (linear(0), linear(0)),
        (lambda batch: net(batch) * weights, lambda batch: net(batch) * weights),
    ]
    for one, other in same:
        assert identities(one)[0].split(".")[-1][-16:] == identities(other)[0].split(".")[-1][-16:]
    other_weights, other_net = torch.zeros(2), linear(1)
    different = [
        (half_space(0.1), half_space(0.2)),
        (Scaled(2), Scaled(3)),
        (linear(0), linear(1)),
        (lambda batch: batch + 1, lambda batch: batch + 2),
        (lambda batch: batch * weights, lambda batch: batch * other_weights),
        (lambda batch: net(batch), lambda batch: other_net(batch)),
        (Scaled(2).__call__, Scaled(3).__call__),
    ]
    for one, other in different:
        assert identities(one)[0][-16:] != identities(other)[0][-16:]


def test_weights_and_members_count_in_an_ensemble():
    a, b = linear(0), linear(1)
    found = {
        identities(VotingEnsemble(members, "soft", weights))[0]
        for members, weights in (([a, b], None), ([b, a], None), ([a, b], [1, 2]), ([a], None))
    }
    assert len(found) == 4
    panel = Panel(VotingEnsemble([a, b]))
    assert identities(panel) == (*identities(a), *identities(b), *identities(VotingEnsemble([a, b])))
