"""Certificates of models that answer in their own way: as if they returned plain logits, or refused."""

import logging
from functools import partial
from types import SimpleNamespace

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.engines import ENGINES, CallableEngine, build_engine, engine_rule
from smoothcert.ensembles.weights.member_outputs import member_outputs
from smoothcert.errors import InvalidArgumentError, ModelOutputError, UnsoundModelError
from smoothcert.networks import Denoised

IMAGE = torch.tensor([0.6, 0.4, 0.5])
NOISE = sc.Gaussian(0.3)
FEW = sc.FixedSample(n0=64, n=640)
HOW = {"seed": 5, "workers": 1}


def network(seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Linear(3, 3).eval()


NET, OTHER = network(), network(1)
WEIGHT, BIAS = NET.weight.detach().numpy(), NET.bias.detach().numpy()

FORMS = {
    "attribute": lambda logits: SimpleNamespace(logits=logits, hidden_states=None),
    "dict": lambda logits: {"logits": logits, "features": logits + 1},
    "1-tuple": lambda logits: (logits,),
    "beside hidden states": lambda logits: (logits, (logits.unsqueeze(1),)),
    "NumPy": lambda logits: logits.detach().numpy(),
    "lists": lambda logits: logits.tolist(),
}


class Answering(nn.Module):
    """A network that returns its logits in some form."""

    def __init__(self, form, inner=NET):
        super().__init__()
        self.form, self.inner = form, inner

    def forward(self, batch):
        return FORMS[self.form](self.inner(batch))


def certified(model, **how):
    return sc.SmoothedClassifier(model, NOISE, 3).certify(IMAGE, FEW, **{**HOW, **how})


EXPECTED = certified(NET).counts


@pytest.mark.parametrize("form", FORMS)
def test_functions_are_certified_by_their_logits(form):
    found = certified(lambda batch: FORMS[form](NET(batch)))
    assert (found.counts, found.engine) == (EXPECTED, "callable")


def test_a_function_of_numpy_is_certified():
    found = certified(lambda batch: batch.numpy() @ WEIGHT.T + BIAS)
    assert (found.counts, found.engine) == (EXPECTED, "callable")


def in_onnx_runtime():
    """The same linear network as a session of ONNX Runtime, which torch knows nothing of."""
    kind = onnx.TensorProto.FLOAT
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Gemm", ["x", "w", "b"], ["y"], transB=1)],
        "linear",
        [onnx.helper.make_tensor_value_info("x", kind, [None, 3])],
        [onnx.helper.make_tensor_value_info("y", kind, [None, 3])],
        [onnx.numpy_helper.from_array(WEIGHT, "w"), onnx.numpy_helper.from_array(BIAS, "b")],
    )
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    return lambda batch: session.run(None, {"x": batch.numpy()})  # a list of one array


def test_a_session_of_onnx_runtime_is_no_torch_and_has_no_gradient():
    session = in_onnx_runtime()
    found = certified(session)
    assert (found.counts, found.engine) == (EXPECTED, "callable")
    assert found.model.endswith("/unsettled")
    point = sc.Dataset.from_arrays(IMAGE.numpy()[None], np.zeros(1, dtype=np.int64))
    with pytest.raises(InvalidArgumentError, match=r"not connected to the image by .* it raised Runtime"):
        sc.attack_images(sc.SmoothedClassifier(session, NOISE, 3), point, radii=0.1, n=100, seed=1, workers=1)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("engine", ["eager", "torch", "auto", "onnx"])
def test_modules_are_certified_by_their_logits(form, engine):
    """Code of one's own is exported by no engine, which says so and runs it as it is."""
    found = certified(Answering(form).eval(), engine=engine)
    assert found.counts == EXPECTED
    assert found.engine == ("eager" if engine == "eager" else "torch")


@pytest.mark.parametrize("form", FORMS)
def test_members_of_ensembles_are_read_alike(form):
    def ensembles(*members):
        voting = sc.VotingEnsemble(members, rule="softmax", weights=[2, 1]).eval()
        return voting, sc.ConsensusEnsemble(voting, k=1).eval(), Denoised(nn.Identity(), members[0]).eval()

    for plain, own in zip(
        ensembles(NET, OTHER), ensembles(Answering(form), Answering(form, OTHER)), strict=True
    ):
        assert certified(own).counts == certified(plain).counts
    panels = [sc.Panel(ensembles(*members)[0]).eval() for members in ((NET, OTHER), (Answering(form), OTHER))]
    batch = torch.rand(20, 3, generator=torch.Generator().manual_seed(2))
    answers = [build_engine("torch", panel, 3, IMAGE)(batch) for panel in panels]
    torch.testing.assert_close(*answers, check_dtype=False)


SCRATCH = torch.zeros(5_000, 3)


class InScratch(nn.Module):
    """A network whose answers are views of one tensor that others of its class write into too."""

    def __init__(self, inner):
        super().__init__()
        self.inner = inner

    def forward(self, batch):
        return SCRATCH[: len(batch)].copy_(self.inner(batch))


def test_members_may_share_the_memory_of_their_answers():
    def ensembles(*members):
        voting = sc.VotingEnsemble(members, weights=[1, 3]).eval()
        consensus = sc.ConsensusEnsemble(voting, k=2).eval()
        adaptive = sc.AdaptiveEnsemble(sc.VotingEnsemble(members, rule="softmax").eval()).eval()
        return voting, consensus, adaptive, sc.VotingEnsemble([consensus, members[0]]).eval()

    batch = torch.rand(400, 3, generator=torch.Generator().manual_seed(2))
    plain, own = ensembles(NET, OTHER), ensembles(InScratch(NET).eval(), InScratch(OTHER).eval())
    for one, other in zip(plain, own, strict=True):
        with torch.no_grad():
            torch.testing.assert_close(one(batch), other(batch))
        assert certified(one).counts == certified(other).counts
    for one, other in zip(plain[:2], own[:2], strict=True):
        answers = [build_engine("torch", sc.Panel(each).eval(), 3, IMAGE)(batch) for each in (one, other)]
        torch.testing.assert_close(*answers)


def test_holdout_fits_keep_the_answers_of_members_that_share_memory():
    dataset = sc.Dataset.from_arrays(
        np.random.default_rng(0).random((20, 3)).astype(np.float32), np.arange(20) % 3
    )
    found = [
        member_outputs(members, dataset, NOISE, draws=2, generator=torch.Generator().manual_seed(1))[0]
        for members in ([NET, OTHER], [InScratch(NET).eval(), InScratch(OTHER).eval()])
    ]
    assert torch.equal(*found)


def test_holdout_fits_read_members_alike():
    points = np.random.default_rng(0).random((20, 3)).astype(np.float32)
    dataset = sc.Dataset.from_arrays(points, np.arange(20) % 3)
    found = [
        member_outputs([model.eval()], dataset, NOISE, draws=2, generator=torch.Generator().manual_seed(1))[0]
        for model in (NET, Answering("dict"), Answering("NumPy"))
    ]
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


def sometimes(first, second):
    """A model whose answers to large batches have another form."""
    return lambda batch: FORMS[first if len(batch) < 40 else second](NET(batch))


class Sometimes(nn.Module):
    def forward(self, batch):
        return sometimes("dict", "1-tuple")(batch)


UNSOUND = {
    "two forms": (
        sometimes("dict", "1-tuple"),
        UnsoundModelError,
        "what it answers changes from call to call",
    ),
    "two forms of a member": (
        sc.VotingEnsemble([NET, Sometimes().eval()]).eval(),
        UnsoundModelError,
        "what it answers changes from call to call",
    ),
    "transposed": (lambda batch: NET(batch).T, ModelOutputError, r"of shape \(48, 3\), got \(3, 48\)"),
    "probabilities over the batch": (
        lambda batch: NET(batch).softmax(dim=0),
        UnsoundModelError,
        "depends on the other images",
    ),
    "features beside one score": (
        lambda batch: (NET(batch)[:, :1], batch),
        ModelOutputError,
        r"Tensor of float32 and shape \(48, 1\), Tensor of float32 and shape \(48, 3\)",
    ),
    "two heads": (lambda batch: (NET(batch), OTHER(batch)), ModelOutputError, "2 parts have"),
    "an object": (lambda batch: object(), ModelOutputError, "images with object, which is no array"),
    "a wrong number of classes": (
        lambda batch: {"logits": NET(batch)[:, :2]},
        ModelOutputError,
        r"shape \(48, 3\), got \(48, 2\)",
    ),
}


@pytest.mark.parametrize("name", UNSOUND)
def test_what_could_be_misread_is_refused_before_the_first_vote(name):
    model, kind, words = UNSOUND[name]
    with pytest.raises(kind, match=words) as caught:
        certified(model)
    assert "the model raised" not in str(caught.value)


@pytest.mark.parametrize("wrap", [lambda logits: logits.T, lambda logits: (logits.T,)])
def test_transposed_logits_of_as_many_rows_as_classes_are_refused(wrap):
    """The shape fits when batches have 16 rows and there are 16 classes; the probe still sees other rows' answers."""
    weights = torch.randn(3, 16, generator=torch.Generator().manual_seed(0))
    classifier = sc.SmoothedClassifier(lambda batch: wrap(batch @ weights), NOISE, 16)
    with pytest.raises(UnsoundModelError, match="depends on the other images"):
        classifier.certify(IMAGE, FEW, batch_size=16, **HOW)


def test_an_error_of_the_model_is_still_the_models():
    def broken(batch):
        raise KeyError("weights")

    with pytest.raises(ModelOutputError, match="the model raised KeyError"):
        certified(broken)


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "callable"])
@pytest.mark.parametrize("model", [lambda batch: NET(batch), partial(torch.mul, 2.0), NET.forward])
def test_engines_of_modules_refuse_other_callables_by_name(engine, model):
    words = f"engine {engine} cannot run this model: a .* is no torch module.*or choose callable"
    with pytest.raises(InvalidArgumentError, match=words):
        certified(model, engine=engine)


def test_the_engine_of_callables_refuses_modules_by_name():
    with pytest.raises(
        InvalidArgumentError, match=r"engine callable cannot run this model: it is a torch module"
    ):
        certified(NET, engine="callable")
    assert engine_rule("auto", NET, IMAGE) == "torch"


class Holds:
    """No function, but callable, with a network inside."""

    def __init__(self, inner):
        self.inner = inner

    def __call__(self, batch):
        return self.inner(batch)


@pytest.mark.parametrize(
    "model", [lambda batch: NET(batch), NET.forward, Holds(NET), partial(lambda net, x: net(x), NET)]
)
def test_a_function_around_a_network_gets_one_line(model, caplog):
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        classifier = sc.SmoothedClassifier(model, NOISE, 3)
        for _ in range(3):
            classifier.predict(IMAGE, 64, **HOW)
    (line,) = [record.getMessage() for record in caplog.records]
    assert "a function around a torch module (Linear) and is run as it is" in line
    assert "faster engines" in line


def test_a_function_of_numpy_gets_no_line(caplog):
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        CallableEngine(lambda batch: batch.numpy() @ WEIGHT.T, 3, IMAGE)
    assert not caplog.records
