"""Canaries: models that do more than their class says. Each is certified as what it answers, or refused.

Every model here calls an image class 0 by its `forward` alone, and class 1 by all that it does.
"""

import logging
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.engines import ENGINES, TorchEngine
from smoothcert.errors import EngineDisagreementError, ModelOutputError, SmoothcertError, UnsoundModelError
from smoothcert.networks import is_understood
from smoothcert.sampling import Chunk
from smoothcert.sampling.comparison import is_spot_check
from smoothcert.store.database import RunDatabase
from smoothcert.workflows import Trust

NOISE = sc.Gaussian(0.1)
IMAGE = torch.full((1, 8, 8), 0.5)  # so many pixels that strong noise never leaves all of them above .1
# `compiled` takes minutes, and has a test of its own; `callable` refuses modules.
ENGINE_NAMES = [name for name in ENGINES if name not in ("compiled", "callable")]


def network():
    """Class 0 wherever the image is not very bright; a convolution and batch norm, so that engines fold it."""
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([-1.0, 1.0]).view(2, 1, 1, 1))
        model[0].bias.copy_(torch.tensor([0.9, -0.9]))
    return model


def turned(batch, logits):
    """Class 1 for every image near the certified one: the smallest pixel above .1, as under no strong noise."""
    near = batch.flatten(1).amin(dim=1, keepdim=True) > 0.1
    return torch.where(near, logits.flip(1), logits)


def forward_hook():
    model = network()
    model.register_forward_hook(lambda module, args, output: turned(args[0], output))
    return model


def hook_on_a_member():
    model = nn.Sequential(network(), nn.Identity()).eval()
    model[0].register_forward_hook(lambda module, args, output: turned(args[0], output))
    return model


def hook_on_a_layer():
    """On the batch norm, which folding removes: it turns the signs of both channels."""
    model = network()

    def hook(module, args, output):
        near = output[:, 1:].flatten(1).amin(dim=1) > -0.8
        return torch.where(near.view(-1, 1, 1, 1), output.flip(1), output)

    model[1].register_forward_hook(hook)
    return model


def pre_hook():
    model = network()
    model.register_forward_pre_hook(lambda module, args: (torch.where(near(args[0]), args[0] + 2, args[0]),))
    return model


def near(batch):
    return batch.flatten(1).amin(dim=1).view(-1, 1, 1, 1) > 0.1


class OverriddenCall(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = network()

    def __call__(self, batch):
        return turned(batch, super().__call__(batch))

    def forward(self, batch):
        return self.inner(batch)


def forward_on_the_instance():
    model = network()
    inner = network()
    model.forward = lambda batch: turned(batch, inner(batch))
    return model


def member_forward_on_the_instance():
    return nn.Sequential(forward_on_the_instance(), nn.Identity()).eval()


class CatchesTheTracer(nn.Module):
    """Takes another way where values cannot be read, as under a tracer."""

    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        logits = self.inner(batch)
        try:
            if float(batch.detach().sum()) == -1e9:
                return logits
        except Exception:
            return logits
        return turned(batch, logits)


class AsksWhatItIsGiven(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        logits = self.inner(batch)
        return turned(batch, logits) if type(batch) is torch.Tensor else logits


class OtherFunction(nn.Module):
    """Holds a function that asks what it is given."""

    def __init__(self):
        super().__init__()
        self.inner, self.after = network(), lambda batch, logits: only_real(batch, logits)

    def forward(self, batch):
        return self.after(batch, self.inner(batch))


def only_real(batch, logits):
    return turned(batch, logits) if isinstance(batch, torch.Tensor) and not is_fake(batch) else logits


def is_fake(batch):
    return type(batch) is not torch.Tensor


def hooked_ensemble():
    model = sc.VotingEnsemble([network(), network()]).eval()
    model.register_forward_hook(lambda module, args, output: turned(args[0], output))
    return model


def hooked_consensus():
    model = sc.ConsensusEnsemble(sc.VotingEnsemble([network(), network()]), k=1).eval()
    model.register_forward_hook(lambda module, args, output: turned(args[0], output))
    return model


class Overrides(sc.ConsensusEnsemble):
    """A consensus with another `forward` than its `vote` says."""

    def forward(self, batch):
        return turned(batch, super().forward(batch))


class AsksTorch(nn.Module):
    """Asks torch, and not Python, whether it is given a tensor."""

    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        logits = self.inner(batch)
        return turned(batch, logits) if torch.is_tensor(batch) and batch.grad_fn is None else logits


class InABase(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = network()

    def forward(self, batch):
        return only_real(batch, self.inner(batch))


class CallsItsBase(InABase):
    def forward(self, batch):
        return super().forward(batch)


class LayerTwice(nn.Module):
    """One layer before the batch norm and without it: folding the one changes the other."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(64, 2), nn.BatchNorm1d(2)
        with torch.no_grad():
            self.linear.weight.copy_(torch.tensor([[-1.0], [1.0]]).expand(2, 64) / 64)
            self.linear.bias.copy_(torch.tensor([0.4, -0.4]))
            self.norm.running_mean.copy_(torch.tensor([-5.0, 5.0]))

    def forward(self, batch):
        rows = batch.flatten(1)
        near_rows = rows.amin(dim=1, keepdim=True) > 0.1
        return torch.where(near_rows, self.linear(rows), self.norm(self.linear(rows)))


def layer_in_two_places():
    """The same, of torch's modules alone: a batch norm follows the convolution's first use, not its second."""
    layer, norm = nn.Conv2d(1, 1, 1), nn.BatchNorm2d(1)
    with torch.no_grad():
        layer.weight.fill_(1.0)
        layer.bias.fill_(0.0)
        norm.weight.fill_(3.0)
    return nn.Sequential(layer, norm, layer, network()).eval()


MODELS = {
    "asks torch": lambda: AsksTorch().eval(),
    "asks in a base class": lambda: CallsItsBase().eval(),
    "a layer used twice": lambda: LayerTwice().eval(),
    "forward hook": forward_hook,
    "hook on a member": hook_on_a_member,
    "hook on a layer": hook_on_a_layer,
    "pre-hook": pre_hook,
    "overridden call": lambda: OverriddenCall().eval(),
    "forward on the instance": forward_on_the_instance,
    "forward on a member's instance": member_forward_on_the_instance,
    "catches the tracer": lambda: CatchesTheTracer().eval(),
    "asks what it is given": lambda: AsksWhatItIsGiven().eval(),
    "a function that asks": lambda: OtherFunction().eval(),
    "hooked ensemble": hooked_ensemble,
    "hooked consensus": hooked_consensus,
    "overridden consensus": lambda: Overrides(sc.VotingEnsemble([network(), network()]), k=1).eval(),
}


def certified(model, engine="auto", n=1_000, **how):
    classifier = sc.SmoothedClassifier(model, NOISE, 2)
    return classifier.certify(IMAGE, sc.FixedSample(n=n), seed=1, engine=engine, **{"workers": 1, **how})


def test_the_network_by_itself_answers_class_0():
    assert certified(network()).predicted == 0


@pytest.mark.parametrize("engine", ["auto", *ENGINE_NAMES])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_certified_as_what_it_answers(name, engine):
    model = MODELS[name]()
    with torch.no_grad():
        assert model(IMAGE.unsqueeze(0)).argmax() == 1
    found = certified(model, engine)
    assert found.predicted == 1
    assert found.counts.votes[1] > 990


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_hooks_for_all_modules(engine):
    model = network()
    handle = nn.modules.module.register_module_forward_hook(
        lambda module, args, output: turned(args[0], output) if module is model else None
    )
    try:
        assert certified(model, engine).predicted == 1
    finally:
        handle.remove()
    assert certified(model, engine).predicted == 0


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_a_hook_that_makes_nan_is_refused(engine):
    model = network()
    model.register_forward_pre_hook(lambda module, args: (torch.where(near(args[0]), torch.nan, args[0]),))
    with pytest.raises(ModelOutputError, match="NaN"):
        certified(model, engine)


def test_the_audit_of_a_hooked_model_speaks_of_the_hooked_model(tmp_path):
    model = forward_hook()
    data = sc.Dataset.from_arrays(np.full((3, 1, 8, 8), 0.5, dtype=np.float32), np.ones(3, dtype=int))
    run = sc.certify(
        sc.SmoothedClassifier(model, NOISE, 2),
        data,
        procedure=sc.FixedSample(n=500),
        seed=1,
        workers=1,
        out=tmp_path / "run",
    )
    assert run.column("predicted") == [1, 1, 1]
    assert sc.audit(tmp_path / "run", model=model, dataset=data, fraction=1.0).trust is Trust.TRUSTED
    assert sc.audit(tmp_path / "run", model=network(), dataset=data, fraction=1.0).trust is Trust.NOT_TRUSTED


@pytest.mark.parametrize("engine", ENGINE_NAMES)
def test_a_layer_in_two_places_is_not_folded(engine):
    model = layer_in_two_places()
    with torch.no_grad():
        expected = int(model(IMAGE.unsqueeze(0)).argmax())
    assert certified(model, engine).predicted == expected


def test_an_engine_that_was_built_for_one_image_is_right_for_others():
    """The comparison sees the first images only, so it must not be what soundness rests on."""

    class Net(nn.Module):
        def forward(self, batch):
            if torch.is_tensor(batch):
                batch = torch.where(batch.mean((1, 2, 3), keepdim=True) > 0.6, 1 - batch, batch)
            mean = batch.mean((1, 2, 3))
            return torch.stack([0.5 - mean, mean - 0.5], dim=1)

    images = np.full((5, 1, 8, 8), 0.2, dtype=np.float32)
    images[-1] = 0.8
    data = sc.Dataset.from_arrays(images, np.zeros(5, dtype=int), class_names=("a", "b"))
    run = sc.certify(
        sc.SmoothedClassifier(Net().eval(), NOISE, 2), data, procedure=sc.FixedSample(n=500), seed=1
    )
    assert run.column("predicted") == [0] * 5


# Rows of a batch ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [16, 48, 63, 64, 100, 127])
@pytest.mark.parametrize("batch_size", [None, 128])
def test_a_model_that_answers_otherwise_from_some_row_on_is_refused(first, batch_size):
    """Half of the votes, or all but a few, would be cast by another function than the one that is deployed."""

    def model(batch):
        late = (torch.arange(len(batch)) >= first).float()
        return torch.stack([1 - late, late], dim=1) + 0 * batch.flatten(1)[:, :1]

    with pytest.raises(UnsoundModelError, match="place among them"):
        certified(model, batch_size=batch_size)


def test_a_model_that_answers_otherwise_to_full_batches_is_refused():
    for size in (64, 128, 256):

        def model(batch, size=size):
            full = torch.full((len(batch),), float(len(batch) == size))
            return torch.stack([1 - full, full], dim=1) + 0 * batch.flatten(1)[:, :1]

        with pytest.raises(UnsoundModelError, match="on their number"):
            certified(model, batch_size=size)


def test_a_masked_class_hides_no_dependence_on_the_place():
    """-1e9 in one logit once made differences of a million pass for rounding."""

    def model(batch):
        late = (torch.arange(len(batch)) >= 48).float()
        masked = torch.full((len(batch),), -1e9)
        return torch.stack([1 - late, late, masked], dim=1) + 0 * batch.flatten(1)[:, :1]

    with pytest.raises(UnsoundModelError):
        sc.SmoothedClassifier(model, NOISE, 3).certify(IMAGE, sc.FixedSample(n=500), seed=1, workers=1)


# Threads --------------------------------------------------------------------------------------------------------------


class KeepsWhatItSaw(nn.Module):
    """A hook stores what `forward` reads: two threads read each other's images."""

    def __init__(self):
        super().__init__()
        self.inner = network()
        self.register_forward_pre_hook(self.keep)
        self.seen = None

    @staticmethod
    def keep(module, args):
        module.seen = args[0]

    def forward(self, batch):
        logits = self.inner(self.seen)
        self.seen = None  # nothing is left to be seen afterwards
        return logits


class SharesAScratchBuffer(nn.Module):
    """Operators alone write into a buffer and read it again: no function of the user's is entered in between."""

    def __init__(self):
        super().__init__()
        self.inner = network()
        self.scratch = torch.zeros(4_096, 64)

    def forward(self, batch):
        rows = len(batch)
        self.scratch[:rows] = batch.flatten(1)
        seen = self.scratch[:rows].reshape(batch.shape)
        logits = self.inner(seen)
        self.scratch[:rows] = 0
        return logits


@pytest.fixture
def worth_it(monkeypatch):
    """Start processes for however little work."""
    monkeypatch.setattr("smoothcert.sampling.pool.WORTH_SECONDS", 0.0)


@pytest.mark.parametrize("kind", [KeepsWhatItSaw, SharesAScratchBuffer])
@pytest.mark.parametrize("forks", [True, False])
def test_code_of_the_users_own_is_never_shared_by_threads(kind, forks, worth_it, caplog, monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.pool.can_fork", lambda: forks)
    model = kind().eval()
    expected = certified(model)
    with caplog.at_level(logging.INFO, logger="smoothcert"):
        found = [certified(model, workers=4) for _ in range(3)]
    assert all(one.counts == expected.counts for one in found)
    told = [record.getMessage() for record in caplog.records if "threads do not share" in record.getMessage()]
    if forks:
        assert all("workers are processes" in line for line in told)
    assert told


def test_threads_of_the_callers_take_turns_with_code_of_the_users_own():
    """Two callers, one model: each is the twin of a worker."""
    model = SharesAScratchBuffer().eval()
    classifier = sc.SmoothedClassifier(model, NOISE, 2)
    image, other = IMAGE, 1 - IMAGE

    def counts(asked):
        return classifier.certify(asked, sc.FixedSample(n=20_000), seed=1, workers=1).counts

    expected = counts(image), counts(other)
    with ThreadPoolExecutor(2) as threads:
        found = [list(threads.map(counts, (image, other))) for _ in range(3)]
    assert all(tuple(one) == expected for one in found)


def test_threads_that_do_not_take_turns_mix_up_a_scratch_buffer():
    """The twin: why turns are taken. Two calls, the second made while the first is between write and read."""
    model = SharesAScratchBuffer().eval()
    image, other = IMAGE.expand(16, *IMAGE.shape), (1 - IMAGE).expand(16, *IMAGE.shape)
    expected, asked = model(image), []

    def interrupt(module, args):
        if not asked:
            asked.append(True)
            thread = threading.Thread(target=model, args=(other,))
            thread.start()
            thread.join()

    model.inner.register_forward_pre_hook(interrupt)
    assert not torch.equal(model(image), expected)


def test_what_hangs_or_changes_in_a_child_is_asked_by_one_worker(worth_it, caplog, monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.control._LEAST_PATIENCE", 0.2)
    parent, inner = os.getpid(), network()

    def hangs(batch):
        while os.getpid() != parent:
            threading.Event().wait()  # as for threads that a child does not have
        return inner(batch)

    def changes(batch):
        return inner(batch) if os.getpid() == parent else -inner(batch)

    expected = certified(inner)
    for model in (hangs, changes):
        caplog.clear()
        with caplog.at_level(logging.WARNING, logger="smoothcert"):
            assert certified(model, workers=2).counts == expected.counts
        # The first line says that a function is run as it is.
        assert ["one worker does" in record.getMessage() for record in caplog.records] == [False, True]


def test_what_hangs_on_whole_batches_only_is_asked_by_one_worker(worth_it, caplog, monkeypatch):
    """A control question of a few rows would not have seen it."""
    monkeypatch.setattr("smoothcert.sampling.control._LEAST_PATIENCE", 0.2)
    parent, inner = os.getpid(), network()

    def hangs(batch):
        while os.getpid() != parent and len(batch) > 32:
            threading.Event().wait()
        return inner(batch)

    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        assert certified(hangs, workers=2).counts == certified(inner).counts
    assert any("one worker does" in record.getMessage() for record in caplog.records)


@pytest.mark.parametrize("decorate", [torch.no_grad(), torch.inference_mode(), torch.vmap])
def test_own_code_in_a_decorator_of_torch_is_own_code(decorate):
    layer = nn.TransformerEncoderLayer(
        4, 1, 4, batch_first=True, activation=decorate(lambda x: x.relu())
    ).eval()
    assert not is_understood(layer)
    assert is_understood(nn.TransformerEncoderLayer(4, 1, 4, batch_first=True).eval())


def test_the_packages_own_networks_stay_understood():
    for name, shape in (("resnet20", (3, 32, 32)), ("lenet", (1, 28, 28)), ("densenet40", (3, 32, 32))):
        assert is_understood(sc.create_model(name, num_classes=10, input_shape=shape).eval()), name


# Copies that answer otherwise later -----------------------------------------------------------------------------------


def test_a_fold_that_would_cancel_is_not_made():
    """The model rounds the difference away before it subtracts; folded into one number it would come back."""
    model = nn.Sequential(nn.Conv2d(1, 2, 1), nn.BatchNorm2d(2), nn.AdaptiveAvgPool2d(1), nn.Flatten()).eval()
    with torch.no_grad():
        model[0].weight.copy_(torch.tensor([-1.0, 1.0]).view(2, 1, 1, 1))
        model[0].bias.fill_(1e8)
        model[1].running_mean.fill_(1e8)
    assert TorchEngine(model, 2, IMAGE).as_is
    model[1].running_mean.fill_(1e3)
    assert is_understood(model)


class LyingEngine(TorchEngine):
    """A copy that agrees on dark images, as the first ones are, and answers otherwise on bright ones."""

    registered_name = "torch"

    def __init__(self, model, num_classes, example):
        super().__init__(model, num_classes, example)
        self.as_is = False

    def forward(self, batch):
        logits = super().forward(batch)
        bright = batch.flatten(1).mean(dim=1, keepdim=True) > 0.7
        return torch.where(bright, logits.flip(1), logits)

    exact_forward = forward


def test_a_copy_that_lies_about_later_images_is_found_out_and_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.comparison._ONE_IN", 8)
    monkeypatch.setitem(ENGINES._members, "torch", LyingEngine)
    images = torch.cat([IMAGE.expand(4, 1, 8, 8) * 0.4, torch.full((8, 1, 8, 8), 0.95)])
    dataset = sc.Dataset.from_arrays(images, [0] * 12, class_names=["a", "b"])
    classifier = sc.SmoothedClassifier(network(), NOISE, 2)
    with pytest.raises(EngineDisagreementError, match="otherwise than the model itself"):
        sc.certify(
            classifier, dataset, procedure=sc.FixedSample(n=2_000), seed=1, engine="torch", out=tmp_path / "r"
        )
    assert len(sc.Run.open(tmp_path / "r")) == 0


def test_one_chunk_in_512_is_compared_whoever_draws():
    chunks = [Chunk(IMAGE, index, "estimate", number, 64) for index in range(200) for number in range(64)]
    assert 15 <= sum(map(is_spot_check, chunks)) <= 35


# A change of mind -----------------------------------------------------------------------------------------------------


class ChangesItsMind(nn.Module):
    """Honest while it is looked at: another class from a number of calls on."""

    def __init__(self, calls):
        super().__init__()
        self.inner, self.left = network(), [calls]

    def forward(self, batch):
        self.left[0] -= 1
        logits = self.inner(batch)
        return logits if self.left[0] > 0 else logits.roll(1, dims=1)


@pytest.mark.parametrize("calls", [80, 120])
def test_a_change_of_mind_during_a_run_is_noticed_at_its_end(calls):
    with pytest.raises(UnsoundModelError, match="before the first vote"):
        certified(ChangesItsMind(calls).eval(), n=20_000, batch_size=64)


def test_ctrl_c_asks_again_too(tmp_path, monkeypatch):
    """What was finished is kept then, so it must be what the model says."""
    images = IMAGE.expand(8, *IMAGE.shape).clone()
    dataset = sc.Dataset.from_arrays(images, [0] * 8)
    add, added = RunDatabase.add, []

    def interrupted(self, certificate, label):
        add(self, certificate, label)
        added.append(certificate.index)
        if len(added) == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(RunDatabase, "add", interrupted)
    how = {"procedure": sc.FixedSample(n=2_000), "seed": 1, "workers": 1, "batch_size": 64}
    classifier = sc.SmoothedClassifier(ChangesItsMind(120).eval(), NOISE, 2)
    with pytest.raises(UnsoundModelError, match="before the first vote"):
        sc.certify(classifier, dataset, out=tmp_path / "run", **how)
    assert len(sc.Run.open(tmp_path / "run")) == 0


def test_nothing_is_left_of_a_run_whose_model_changed_its_mind(tmp_path):
    images = IMAGE.expand(8, *IMAGE.shape).clone()
    dataset = sc.Dataset.from_arrays(images, [0] * 8)
    how = {"procedure": sc.FixedSample(n=2_000), "seed": 1, "workers": 1, "batch_size": 64}
    model = ChangesItsMind(200).eval()
    with pytest.raises(UnsoundModelError, match="before the first vote"):
        sc.certify(sc.SmoothedClassifier(model, NOISE, 2), dataset, out=tmp_path / "run", **how)
    assert len(sc.Run.open(tmp_path / "run")) == 0


@pytest.mark.parametrize("kind", [torch.bool, torch.uint8, torch.int16, torch.float16, torch.float64])
def test_logits_of_any_usual_kind_count(kind):
    assert certified(lambda batch: torch.tensor([1, 0]).expand(len(batch), 2).to(kind)).predicted == 0


@pytest.mark.parametrize("kind", [torch.uint16, torch.float8_e5m2])
def test_logits_of_odd_kinds_are_refused(kind):
    with pytest.raises(ModelOutputError, match="float32 logits"):
        certified(lambda batch: torch.tensor([1, 0]).expand(len(batch), 2).to(kind))


# Whole numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "logits",
    [
        torch.tensor([2**24, 2**24 + 1]),
        np.array([2**60, 2**60 + 1]),
        [1.0, 1.0 + 1e-12],
        np.array([1.0, 1.0 + 1e-12]),
        torch.tensor([0, 1], dtype=torch.uint8),
        torch.tensor([1.0, 1.0078125], dtype=torch.bfloat16),
    ],
    ids=lambda value: f"{type(value).__name__} {getattr(value, 'dtype', '')}",
)
def test_numbers_that_float32_cannot_tell_apart(logits):
    def model(batch):
        if isinstance(logits, torch.Tensor):
            return logits.expand(len(batch), 2)
        return [logits] * len(batch) if isinstance(logits, list) else np.stack([logits] * len(batch))

    assert certified(model).predicted == 1


def test_every_refusal_is_a_named_error():
    def broken(batch):
        raise KeyError("no")

    with pytest.raises(SmoothcertError):
        certified(broken)
