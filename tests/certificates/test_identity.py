"""A model's identity changes with what decides its answers."""

from functools import partial

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


def _without_name(model):
    return identities(model)[0].split(":")[-1]


class Slotted:
    __slots__ = ("factor",)

    def __init__(self, factor):
        self.factor = factor

    def __call__(self, batch):
        return batch * self.factor


class Scale(torch.nn.Module):
    def __init__(self, factor, hidden=0.0):
        super().__init__()
        self.factor = factor
        self.register_buffer("hidden", torch.tensor(hidden), persistent=False)

    def forward(self, batch):
        return batch * self.factor + self.hidden


class Negated(Scale):
    pass


def test_closures_objects_and_modules_of_other_content_differ():
    weights, net = torch.ones(2), linear(0)
    same = [
        (half_space(0.1), half_space(0.1)),
        (Scaled(2), Scaled(2)),
        (linear(0), linear(0)),
        (lambda batch: net(batch) * weights, lambda batch: net(batch) * weights),
    ]
    for one, other in same:
        assert _without_name(one) == _without_name(other)
    other_weights, other_net = torch.zeros(2), linear(1)
    different = [
        (half_space(0.1), half_space(0.2)),
        (Scaled(2), Scaled(3)),
        (linear(0), linear(1)),
        (lambda batch: batch + 1, lambda batch: batch + 2),
        (lambda batch: batch * weights, lambda batch: batch * other_weights),
        (lambda batch: net(batch), lambda batch: other_net(batch)),
        (Scaled(2).__call__, Scaled(3).__call__),
        (Slotted(2), Slotted(3)),
        (partial(torch.mul, other=2), partial(torch.mul, other=3)),
        (Scale(2), Scale(3)),
        (Scale(2), Negated(2)),
        (Scale(2, 0.0), Scale(2, 1.0)),
    ]
    for one, other in different:
        assert _without_name(one) != _without_name(other)


def test_weights_and_members_count_in_an_ensemble():
    a, b = linear(0), linear(1)
    found = {
        identities(VotingEnsemble(members, "soft", weights))[0]
        for members, weights in (([a, b], None), ([b, a], None), ([a, b], [1, 2]), ([a], None))
    }
    assert len(found) == 4
    panel = Panel(VotingEnsemble([a, b]))
    assert identities(panel) == (*identities(a), *identities(b), *identities(VotingEnsemble([a, b])))


def test_odd_things_in_a_closure_do_not_stop_it():
    half = torch.ones(3, dtype=torch.bfloat16)

    def outer():
        def model(batch):
            return batch * half + later

        found = identities(model)
        later = 1
        return found, later

    assert outer()[0][0].startswith("callable:")


def test_a_network_with_classifiers_of_its_own_is_no_panel():
    class Net(torch.nn.Module):
        def __init__(self, seed):
            super().__init__()
            self.backbone = linear(seed)
            self.classifiers = torch.nn.ModuleList([linear(7)])

    assert len(identities(Net(0))) == 1
    assert identities(Net(0)) != identities(Net(1))


def test_tensors_and_dictionaries_that_a_module_holds_are_part_of_it():
    class Held(torch.nn.Module):
        def __init__(self, held):
            super().__init__()
            self.held = held

    for one, other in ((torch.ones(3), -torch.ones(3)), ({"a": 1}, {"a": 2})):
        assert identities(Held(one)) == identities(Held(one))
        assert identities(Held(one)) != identities(Held(other))
