"""Folders of a user's own modules: no code is run from a folder, the given module is filled, and misfits are named."""

import copy
import json
import logging

import pytest
import torch
from torch import nn

import smoothcert as sc
from small_networks import save_network, small_card
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import CodeEntry, load_checkpoint, make_prefixes, read_card, save_checkpoint
from smoothcert.networks import kept_fingerprint, weights_digest, with_normalisation

SHAPE = (1, 8, 8)


class Mlp(nn.Module):
    def __init__(self, width=6, classes=10):
        super().__init__()
        self.hidden, self.norm = nn.Linear(64, width), nn.BatchNorm1d(width)
        self.drop, self.head = nn.Dropout(0.5), nn.Linear(width, classes)

    def forward(self, batch):
        return self.head(self.drop(self.norm(self.hidden(batch.flatten(1))).relu()))


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.head = nn.Linear(64, 64), nn.Linear(64, 64), nn.Linear(64, 10)
        self.second.weight = self.first.weight

    def forward(self, batch):
        return self.head(self.second(self.first(batch.flatten(1)).relu()))


def random_module(kind, seed, **arguments):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(**arguments)


def card_of(module, **changes):
    fields = {"architecture": type(module).__name__, "mean": (), "std": (), "code": CodeEntry.of(module)}
    return small_card(**{**fields, **changes})


def save_own(folder, seed, kind=Mlp, **arguments):
    module = random_module(kind, seed, **arguments)
    save_checkpoint(module, card_of(module), folder)
    return module


def batch():
    return torch.rand(16, *SHAPE, generator=torch.Generator().manual_seed(1))


def test_the_card_names_the_code_and_the_weights_come_back(tmp_path):
    module = save_own(tmp_path / "m", 0)
    card = read_card(tmp_path / "m")
    assert card.code == CodeEntry(
        module=f"{__name__}.Mlp", factory=None, arguments={}, fingerprint=kept_fingerprint(Mlp())
    )
    assert card.architecture == "Mlp"
    given = random_module(Mlp, 1).train()
    before = copy.deepcopy(given.state_dict())
    model, again = sc.load_model(tmp_path / "m", module=given)
    assert again == card
    assert again.digest == weights_digest(model) == weights_digest(module)
    assert torch.equal(model(batch()), module.eval()(batch()))
    assert not any(part.training for part in model.modules())
    assert not any(weights.requires_grad for weights in model.parameters())
    # the given module is a pattern, and stays as it was
    assert given.training
    assert all(torch.equal(given.state_dict()[name], before[name]) for name in before)


def test_a_plain_card_does_not_mention_code(tmp_path):
    save_network(tmp_path / "m", 0)
    assert "code" not in json.loads((tmp_path / "m" / "model.json").read_text())


def test_no_folder_runs_code(tmp_path):
    save_own(tmp_path / "m", 0)
    for load in (sc.load_model, sc.load_classifier, load_checkpoint):
        with pytest.raises(
            CheckpointError, match=r"Mlp, which is code that no folder runs.*module=Mlp\(\.\.\)"
        ):
            load(tmp_path / "m")
    with pytest.raises(CheckpointError, match="code of its own, which a card does not run"):
        read_card(tmp_path / "m").build()


def test_a_module_for_a_network_of_the_package_is_refused(tmp_path):
    save_network(tmp_path / "m", 0)
    with pytest.raises(InvalidArgumentError, match="this package builds; leave module out"):
        sc.load_model(tmp_path / "m", module=Mlp())


@pytest.mark.parametrize("wrong", [Mlp, "Mlp", [], [3]])
def test_what_is_no_module(tmp_path, wrong):
    save_own(tmp_path / "m", 0)
    with pytest.raises(InvalidArgumentError, match="module must be a torch module of the class"):
        sc.load_model(tmp_path / "m", module=wrong)


def test_misfits_are_named(tmp_path):
    save_own(tmp_path / "m", 0)
    with pytest.raises(CheckpointError, match="holds weights of a Mlp, but module is Tied; give a Mlp"):
        sc.load_model(tmp_path / "m", module=Tied())
    with pytest.raises(CheckpointError, match=r"'hidden.weight': \(6, 64\) of float32, not \(7, 64\)"):
        sc.load_model(tmp_path / "m", module=Mlp(7))
    with pytest.raises(CheckpointError, match=r"of float32, not .* of float64"):
        sc.load_model(tmp_path / "m", module=Mlp().double())
    larger = Mlp()
    larger.more = nn.Linear(1, 1)
    with pytest.raises(CheckpointError, match=r"Missing key 'more.weight'"):
        sc.load_model(tmp_path / "m", module=larger)
    smaller = Mlp()
    del smaller.norm
    with pytest.raises(CheckpointError, match="Unexpected key 'norm"):
        sc.load_model(tmp_path / "m", module=smaller)


def test_a_changed_weight_breaks_the_digest(tmp_path):
    save_own(tmp_path / "m", 0)
    path = tmp_path / "m" / "model.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="have digest"):
        sc.load_model(tmp_path / "m", module=Mlp())


def test_tied_weights_are_written_under_both_names_and_fill_tied_and_untied_modules(tmp_path):
    module = save_own(tmp_path / "m", 0, Tied)
    model, _ = sc.load_model(tmp_path / "m", module=Tied())
    assert model.first.weight is model.second.weight
    assert torch.equal(model(batch()), module(batch()))
    untied = Tied()
    untied.second.weight = nn.Parameter(torch.zeros(64, 64))
    assert torch.equal(sc.load_model(tmp_path / "m", module=untied)[0](batch()), module(batch()))


class Extra(Mlp):
    def get_extra_state(self):
        return {"secret": 1}

    def set_extra_state(self, state):
        pass


class Hiding(Mlp):
    """Keeps a weight out of its state_dict that decides its answers."""

    def state_dict(self, *args, **kwargs):
        state = super().state_dict(*args, **kwargs)
        del state["head.bias"]
        return state

    def load_state_dict(self, state_dict, strict=True, assign=False):
        return super().load_state_dict(state_dict, strict=False)

    def __deepcopy__(self, memo):
        return random_module(Hiding, 99)


class Uncopied(Mlp):
    def __deepcopy__(self, memo):
        raise TypeError("there is only one of me")


def complex_module():
    module = Mlp()
    module.register_buffer("phase", torch.zeros(2, dtype=torch.complex64))
    return module


@pytest.mark.parametrize(
    "make, message",
    [
        (Extra, "'_extra_state' of the model is a dict, and weights files hold tensors alone"),
        (complex_module, "'phase' of the model is a tensor of torch.complex64"),
        (Hiding, "weights that decide its answers are not in its state_dict"),
        (Uncopied, "cannot be copied .TypeError: there is only one of me."),
    ],
)
def test_modules_that_cannot_be_saved_leave_no_folder(tmp_path, make, message):
    module = make()
    with pytest.raises(CheckpointError, match=message):
        save_checkpoint(module, card_of(module), tmp_path / "m")
    assert not (tmp_path / "m").exists()


def test_a_first_layer_is_put_before_the_module_as_the_card_says(tmp_path):
    module = random_module(Mlp, 0)
    whole = with_normalisation(module, SHAPE, (0.25,), (0.5,))
    save_checkpoint(whole, card_of(module, mean=(0.25,), std=(0.5,)), tmp_path / "m")
    model, _ = sc.load_model(tmp_path / "m", module=Mlp())
    assert torch.equal(model(batch()), module.eval()((batch() - 0.25) / 0.5))
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "mean": [0.5]}))
    with pytest.raises(CheckpointError, match="normalises by other numbers"):
        sc.load_model(tmp_path / "m", module=Mlp())


@pytest.mark.parametrize("more", [{"heads": 2}, {"split": "x"}])
def test_a_card_of_own_code_has_nothing_of_our_networks(tmp_path, more):
    save_own(tmp_path / "m", 0)
    path = tmp_path / "m" / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **more}))
    with pytest.raises(CheckpointError, match="has no heads, split or denoiser"):
        sc.load_model(tmp_path / "m", module=Mlp())


def test_arguments_of_a_factory_are_plain():
    entry = CodeEntry.of(
        Mlp(), "nets.py:make", {"width": 6, "name": "a", "wide": True, "rate": 0.5, "no": None}
    )
    assert CodeEntry.model_validate_json(entry.model_dump_json()) == entry
    with pytest.raises(InvalidArgumentError, match="argument layers must be a plain value"):
        CodeEntry.of(Mlp(), "nets.py:make", {"layers": [1, 2]})


def test_one_module_fills_all_members_of_its_class_and_a_list_those_of_several_sizes(tmp_path):
    first, second = save_own(tmp_path / "a", 0), save_own(tmp_path / "b", 1)
    save_own(tmp_path / "c", 2, width=9)
    places = [tmp_path / "a", tmp_path / "b"]
    with pytest.raises(CheckpointError, match="no folder runs by itself"):
        sc.save_ensemble(places, tmp_path / "e")
    card = sc.save_ensemble(places, tmp_path / "e", module=Mlp())
    with pytest.raises(CheckpointError, match=r"cannot load its member .*no folder runs by itself"):
        sc.load_model(tmp_path / "e")
    model, again = sc.load_model(tmp_path / "e", module=Mlp())
    assert again == card
    mean = (first.eval()(batch()) + second.eval()(batch())) / 2
    assert torch.allclose(model(batch()), mean, atol=1e-6)
    mixed = [Mlp(9), Mlp()]
    sc.make_ensemble([tmp_path / "c", *places], tmp_path / "f", module=mixed)
    with pytest.raises(CheckpointError, match=r"'hidden.weight'"):
        sc.load_model(tmp_path / "f", module=Mlp())
    assert len(sc.load_model(tmp_path / "f", module=mixed)[0].members) == 3
    assert sc.load_classifier(tmp_path / "f", module=mixed).num_classes == 10


def test_members_of_own_code_beside_networks_of_the_package(tmp_path):
    save_own(tmp_path / "a", 0)
    save_network(tmp_path / "b", 1)
    places = [tmp_path / "a", tmp_path / "b"]
    made = make_prefixes(places[::-1], tmp_path / "by-size", module=Mlp())
    assert [len(card.members) for card in made.values()] == [1, 2]
    digits = sc.load_dataset("digits", "holdout")
    card = sc.make_ensemble(
        places, tmp_path / "e", fit="sween", dataset=digits, images=20, draws=2, seed=0, module=Mlp()
    )
    assert card.weights is not None
    with pytest.raises(InvalidArgumentError, match="leave module out"):
        sc.save_ensemble([tmp_path / "b"], tmp_path / "g", module=Mlp())


class Mirrored(Mlp):
    """Has the name, the weights and the shapes of the other, and answers the opposite."""

    def forward(self, batch):
        return -super().forward(batch)


Mirrored.__name__ = Mirrored.__qualname__ = "Mlp"


def test_of_modules_that_weights_fit_the_one_they_were_kept_with_is_taken(tmp_path, caplog):
    module = save_own(tmp_path / "m", 0).eval()
    for given in ([Mlp(), Mirrored()], [Mirrored(), Mlp()]):
        with caplog.at_level(logging.WARNING, "smoothcert"):
            model, _ = sc.load_model(tmp_path / "m", module=given)
        assert torch.equal(model(batch()), module(batch()))
    assert caplog.messages == []


def test_other_code_of_the_same_name_and_shapes_is_told_and_never_guessed(tmp_path, caplog):
    save_own(tmp_path / "m", 0)
    with caplog.at_level(logging.WARNING, "smoothcert"):
        sc.load_model(tmp_path / "m", module=Mirrored())
        sc.load_model(tmp_path / "m", module=[Mirrored(), Mirrored()])
    assert len(caplog.messages) == 2
    assert all("not the one that the weights were kept with" in line for line in caplog.messages)
    third = Mlp()
    third.norm.eps = 0.5
    with pytest.raises(CheckpointError, match="fit 2 of the modules given, which are different code"):
        sc.load_model(tmp_path / "m", module=[Mirrored(), third])


def test_a_card_without_a_fingerprint_loads_and_leaves_no_guess(tmp_path, caplog):
    module = save_own(tmp_path / "m", 0).eval()
    path = tmp_path / "m" / "model.json"
    card = json.loads(path.read_text())
    del card["code"]["fingerprint"]
    path.write_text(json.dumps(card))
    with caplog.at_level(logging.WARNING, "smoothcert"):
        assert torch.equal(sc.load_model(tmp_path / "m", module=Mlp())[0](batch()), module(batch()))
    assert caplog.messages == []
    with pytest.raises(CheckpointError, match="give the right one alone"):
        sc.load_model(tmp_path / "m", module=[Mlp(), Mirrored()])


def test_a_class_that_was_moved_is_the_same_code(monkeypatch):
    before = kept_fingerprint(Mlp())
    monkeypatch.setattr(Mlp, "__module__", "elsewhere")
    assert kept_fingerprint(Mlp()) == before != kept_fingerprint(Mirrored())
