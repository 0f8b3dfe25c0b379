"""A model's identity changes with what decides its answers."""

import logging
import re
from collections import deque
from decimal import Decimal
from functools import partial
from pathlib import Path

import numpy as np
import torch

from smoothcert import FixedSample, Gaussian, Panel, SmoothedClassifier, VotingEnsemble
from smoothcert.certificates.identity import identities, is_settled
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


class Act(torch.nn.Module):
    """Answers by whatever function it holds; `_sign` is private."""

    def __init__(self, act=torch.tanh, sign=1.0):
        super().__init__()
        self.linear, self.act, self._sign = linear(0), act, sign

    def forward(self, batch):
        return self._sign * self.act(self.linear(batch))


def test_functions_private_values_hooks_and_code_are_part_of_a_module():
    def two(batch):
        return 2 * batch

    def three(batch):
        return 3 * batch

    def redefined():
        class Act(torch.nn.Module):  # by the same name, as a notebook makes it
            __init__ = globals()["Act"].__init__

            def forward(self, batch):
                return -self.act(self.linear(batch))

        Act.__qualname__ = globals()["Act"].__qualname__
        made = Act.__new__(Act)
        torch.nn.Module.__init__(made)
        made.linear, made.act, made._sign = linear(0), torch.tanh, 1.0
        return made

    hooked, owned, listed = Act(), Act(), Act()
    hooked.register_forward_hook(lambda module, args, output: -output)
    owned.forward = lambda batch: batch
    listed.others = [linear(1)]  # not registered, and asked all the same
    models = [
        Act(), Act(torch.cos), Act(torch.nn.functional.relu), Act(two), Act(three), Act(partial(torch.mul, other=2)),
        Act(np.tanh), Act(np.cos), Act(sign=-1.0), hooked, owned, listed, redefined(),
    ]  # fmt: skip
    found = [identities(model)[0] for model in models]
    assert len(set(found)) == len(models)
    assert found[:5] == [identities(model)[0] for model in (Act(), Act(torch.cos), *models[2:5])]


class Constant(torch.nn.Module):
    sign = 1.0

    def __init__(self, held=None):
        super().__init__()
        self.held = held

    def forward(self, batch):
        return self.sign * batch


class Flip(torch.nn.Module):
    def forward(self, batch):
        return -batch


def test_values_of_every_kind_shapes_ends_and_repeats_are_part_of_a_module(monkeypatch):
    deep = [
        1, np.float32(1), np.float32(-1), np.int64(1), Decimal(1), Decimal(2), torch.float32, torch.bfloat16, slice(1),
        slice(2), range(2), range(3), bytearray(b"a"), bytearray(b"b"), deque([1]), deque([2]), torch.zeros(2, 3),
        torch.zeros(3, 2), np.zeros((2, 3)), np.zeros((3, 2)), torch.zeros(6, dtype=torch.int32), [[1], 2], [[1, 2]],
        [[[[[[[[1]]]]]]]], [[[[[[[[2]]]]]]]], {torch.tanh}, {torch.cos}, logging.getLogger("a"),
    ]  # fmt: skip
    found = [identities(Constant(held))[0] for held in deep]
    assert len(set(found)) == len(deep)
    before = identities(Constant())
    monkeypatch.setattr(Constant, "sign", -1.0)
    assert identities(Constant()) != before
    flip, same = Flip(), torch.nn.Identity()
    assert identities(torch.nn.Sequential(flip, same, flip)) != identities(
        torch.nn.Sequential(flip, same, same)
    )
    instead = [torch.nn.Identity() for _ in range(2)]
    for model, factor in zip(instead, (2, 3), strict=True):
        model.forward = Scaled(factor)
    assert identities(instead[0]) != identities(instead[1])


def test_a_logger_is_not_what_it_has_been_told(caplog):
    model = Constant(logging.getLogger("some.model"))
    before = identities(model)
    model.held.setLevel(logging.DEBUG)
    assert identities(model) == before


def test_what_holds_itself_has_an_identity():
    one = Act()
    one.parent, one.self_in_list = {"me": one}, [one]
    assert identities(one) == identities(one)
    callable_ = Scaled(2)
    callable_.me = callable_
    assert identities(callable_) != identities(Scaled(2))


def test_scripted_and_traced_networks_have_the_identity_of_their_code():
    traced = [torch.fx.symbolic_trace(Act(act)) for act in (torch.tanh, torch.cos, torch.tanh)]
    found = [identities(model)[0] for model in traced]
    assert found[0] == found[2] != found[1]


def test_a_changed_function_is_not_answered_by_the_engine_of_the_old_one():
    model = Act(sign=100.0).eval()
    classifier = SmoothedClassifier(model, Gaussian(0.25), 2)
    image, how = torch.tensor([0.9, 0.1]), {"seed": 1, "workers": 1, "procedure": FixedSample(n=200)}
    before = classifier.certify(image, **how)
    model.act = torch.neg
    after, anew = (
        one.certify(image, **how) for one in (classifier, SmoothedClassifier(model, Gaussian(0.25), 2))
    )
    assert after.counts.votes.tolist() == anew.counts.votes.tolist() == before.counts.votes.tolist()[::-1]
    assert after.model == anew.model != before.model


NETWORK, FACTOR = linear(0), 2.0


def predict(batch):
    return helper(batch)


def helper(batch):
    return FACTOR * NETWORK(batch)


def wrapped(model, times):
    for _ in range(times):
        model = partial(_pass_on, model) if _ % 2 else _closure(model)
    return model


def _closure(model):
    return lambda batch: model(batch)


def _pass_on(model, batch):
    return model(batch)


def test_global_variables_that_functions_read_are_part_of_them(monkeypatch):
    found = [identities(predict)]
    monkeypatch.setitem(globals(), "NETWORK", linear(1))
    found.append(identities(predict))
    monkeypatch.setitem(globals(), "FACTOR", 3.0)
    found.append(identities(predict))
    monkeypatch.setitem(globals(), "helper", lambda batch: batch)
    found.append(identities(predict))
    monkeypatch.undo()
    assert len(set(found)) == 4
    assert identities(predict) == found[0]
    assert not is_settled(found[0][0])  # it is a user's own code


def test_attributes_of_a_users_own_modules_are_part_of_a_function(monkeypatch):
    import types

    mine = types.ModuleType("mine_not_installed")
    mine.net = linear(0)
    monkeypatch.setitem(globals(), "mine", mine)
    function = eval("lambda batch: mine.net(batch)", globals())
    before = identities(function)
    mine.net = linear(1)
    assert identities(function) != before


def test_no_depth_of_wrappers_hides_a_model():
    for times in (5, 20, 60):
        assert identities(wrapped(linear(0), times)) == identities(wrapped(linear(0), times))
        assert identities(wrapped(linear(0), times)) != identities(wrapped(linear(1), times))


def test_only_what_is_all_of_installed_packages_is_settled():
    """A user's own code may read anything; networks of this package and of torch are their weights and settings."""
    plain = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU(), torch.nn.Linear(3, 2))
    assert is_settled(identities(plain)[0])
    assert is_settled(identities(VotingEnsemble([plain, linear(0)]))[0])
    for model in (wrapped(linear(0), 1), wrapped(linear(0), 400), Scale(2), torch.nn.Sequential(Scale(2))):
        assert not is_settled(identities(model)[0])


def test_what_shows_no_content_is_not_settled():
    assert is_settled(identities(linear(0))[0])
    with Path(__file__).open("rb") as file:
        for held in (file, (number for number in range(3))):
            model = torch.nn.Identity()
            model.forward = partial(torch.mul, held)
            assert not is_settled(identities(model)[0]), held
    assert identities(Constant(re.compile("a"))) != identities(Constant(re.compile("b")))


def test_library_code_that_was_exchanged_is_seen(monkeypatch):
    model = torch.nn.Linear(2, 2)
    before = identities(model)
    monkeypatch.setattr(torch.nn.Linear, "forward", lambda self, batch: -batch)
    assert identities(model) != before


def test_shared_and_copied_parts_have_the_same_identity():
    one = linear(0)
    assert identities(Constant([one, one])) == identities(Constant([linear(0), linear(0)]))
