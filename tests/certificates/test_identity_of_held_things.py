"""Identities follow what a user's code holds and names, are the same in every process, and never fail."""

import collections
import os
import subprocess
import sys
import types
from pathlib import Path

import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.certificates.identity import identities, is_settled
from smoothcert.errors import ModelOutputError

IMAGE = torch.full((1, 2, 2), 0.5)


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(4, 3)).eval()


class Holds(nn.Module):
    def __init__(self, held):
        super().__init__()
        self.inner, self.held = network(), held

    def forward(self, batch):
        return self.inner(batch)


def with_deep_module(scale):
    """A model that reads `outer.inner.SCALE`, two modules deep."""
    outer, inner = types.ModuleType("users_outer"), types.ModuleType("users_inner")
    outer.inner, inner.SCALE = inner, scale
    space = {"outer": outer, "net": network()}
    exec("def model(batch):\n    return net(batch) * outer.inner.SCALE", space)
    return space["model"]


def with_function_attribute(scale):
    def model(batch):
        return network()(batch) * model.scale

    model.scale = scale
    return model


def with_class_attribute(scale):
    class Settings:
        pass

    settings = Settings()
    settings.scale = scale

    class Scaled(Holds):
        shared = settings

    return Scaled(1).eval()


def with_nested_class(scale):
    class Scaled(Holds):
        class Inner:
            value = scale

    return Scaled(1).eval()


def frozen(scale):
    model = network()
    with torch.no_grad():
        model[1].weight.mul_(scale)
    return torch.jit.freeze(torch.jit.script(model))


class Named(str):
    pass


def with_text_of_a_class(scale):
    text = Named("same")
    text.scale = scale
    return Holds(text).eval()


class Table(dict):
    pass


def with_table_of_a_class(scale):
    table = Table()
    table.scale = scale
    return Holds(table).eval()


def with_default(scale):
    return Holds(collections.defaultdict(lambda: scale)).eval()


def behind_a_state_dict_hook(scale):
    model = network()
    with torch.no_grad():
        model[1].bias.fill_(scale)
    model.register_state_dict_post_hook(lambda module, state, prefix, metadata: state.clear())
    return model


def with_private_setting(scale):
    model = nn.Sequential(nn.Conv2d(1, 3, 3, padding=1, padding_mode="circular"), nn.Flatten()).eval()
    for weight in model.parameters():
        nn.init.zeros_(weight)
    model[0]._reversed_padding_repeated_twice = [int(scale)] * 4
    return model


def with_sparse(scale):
    return Holds((torch.eye(3) * scale).to_sparse()).eval()


@pytest.mark.parametrize(
    "make",
    [
        with_deep_module,
        with_function_attribute,
        with_class_attribute,
        with_nested_class,
        frozen,
        with_text_of_a_class,
        with_table_of_a_class,
        with_default,
        with_sparse,
        behind_a_state_dict_hook,
        with_private_setting,
    ],
)
@pytest.mark.filterwarnings("ignore:.*torch.jit")
def test_what_decides_the_answers_decides_the_identity(make):
    assert identities(make(2.0)) == identities(make(2.0))
    assert identities(make(2.0)) != identities(make(3.0))


def raises_in_extra_repr():
    class Odd(Holds):
        def extra_repr(self):
            raise KeyError("for looks")

    return Odd(1).eval()


def with_extra_state():
    class Odd(Holds):
        def get_extra_state(self):
            return {"step": 3}

        def set_extra_state(self, state):
            pass

    return Odd(1).eval()


ODD = {
    "frozen script": lambda: frozen(1.0),
    "sparse rows": lambda: Holds(torch.eye(3).to_sparse_csr()).eval(),
    "meta": lambda: Holds(torch.empty(3, device="meta")).eval(),
    "nested": lambda: Holds(torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)])).eval(),
    "conjugate": lambda: Holds(torch.zeros(3, dtype=torch.complex64).conj()).eval(),
    "quantised": lambda: Holds(torch.quantize_per_tensor(torch.zeros(3), 0.1, 0, torch.quint8)).eval(),
    "extra_repr": raises_in_extra_repr,
    "extra state": with_extra_state,
}


@pytest.mark.parametrize("name", ODD)
@pytest.mark.filterwarnings("ignore")  # torch calls some of these prototypes
def test_a_model_that_holds_odd_things_is_certified(name):
    classifier = sc.SmoothedClassifier(ODD[name](), sc.Gaussian(0.1), 3)
    found = classifier.certify(IMAGE, sc.FixedSample(n=200), seed=1, workers=1)
    assert found.counts.drawn == 200
    assert not is_settled(found.model)


def test_weights_without_values_are_named():
    model = network()
    model.register_buffer("seen", torch.empty(3, device="meta"))
    with pytest.raises(ModelOutputError, match=r"'seen'.*meta.*load its weights"):
        identities(model)


def test_weights_may_still_be_resized_afterwards():
    held = torch.zeros(4)
    identities(Holds(held).eval())
    held.resize_(9)
    assert held.shape == (9,)


MODEL_IN_A_PROCESS = """
import enum, os, torch
from torch import nn
from smoothcert.certificates.identity import identities

class Colour(enum.Enum):
    RED = 1
    BLUE = 2
    GREEN = 3

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        for _ in range(int(os.environ["HOOKS"])):
            nn.Linear(1, 1).register_forward_hook(lambda *a: None)
        self.colours = {Colour.RED, Colour.BLUE, Colour.GREEN}
        self.words = {"one", "two", "three"}
        self.handle = self.register_forward_hook(type(self).look)

    def look(self, args, output):
        return output

    def forward(self, batch):
        return batch.flatten(1) if Colour.RED in self.colours else batch

print(identities(Model().eval())[0])
"""


@pytest.mark.slow
def test_an_identity_is_the_same_in_every_process(tmp_path):
    found = set()
    for seed, hooks in ((1, 0), (2, 3)):
        script = tmp_path / "model.py"
        script.write_text(MODEL_IN_A_PROCESS)
        source = str(Path(sc.__file__).parents[1])
        env = {**os.environ, "PYTHONHASHSEED": str(seed), "HOOKS": str(hooks), "PYTHONPATH": source}
        done = subprocess.run([sys.executable, script], capture_output=True, text=True, env=env, check=True)
        found.add(done.stdout)
    assert len(found) == 1, found


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # of what torch imports to compile
def test_compiling_leaves_the_identity():
    model = network()
    before = identities(model)
    torch.compile(model)
    assert identities(model) == before
