"""ONNX files under every engine: the same votes where it can run them, a refusal by name where it cannot."""

import pytest
import torch
from onnx import TensorProto, helper
from tests.own_models import nearest_mean, onnx_model, save_onnx

import smoothcert as sc
from marks import needs_openvino
from smoothcert.engines import ENGINES
from smoothcert.errors import InvalidArgumentError, UnsoundModelError
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.networks import OnnxNetwork

ABLE = [name for name in ENGINES if ENGINES[name].runs_onnx_files]
MARKED = [
    pytest.param(name, marks=[needs_openvino] if name == "openvino" else []) for name in (*ABLE, "auto")
]
FEW = {"procedure": sc.FixedSample(n0=20, n=300), "seed": 5, "workers": 1}


@pytest.fixture
def network(tmp_path):
    return OnnxNetwork(read_onnx(save_onnx(tmp_path / "net.onnx")))


@pytest.fixture(scope="module")
def digits():
    return sc.load_dataset("digits")


def torch_twin():
    """The same classifier in torch."""
    weights, biases = nearest_mean()
    layer = torch.nn.Linear(64, 10)
    with torch.no_grad():
        layer.weight.copy_(torch.from_numpy(weights.T))
        layer.bias.copy_(torch.from_numpy(biases))
    return torch.nn.Sequential(torch.nn.Flatten(), layer).eval()


def smoothed(model):
    return sc.SmoothedClassifier(model, sc.Gaussian(0.25), 10)


@pytest.mark.parametrize("engine", MARKED)
def test_votes_are_those_of_the_same_network_in_torch(network, digits, engine):
    assert set(ABLE) == {"eager", "onnx", "openvino"}
    wanted = smoothed(torch_twin()).certify(digits.image(3), engine="torch", **FEW)
    given = smoothed(network).certify(digits.image(3), engine=engine, **FEW)
    assert given.counts == wanted.counts
    assert given.engine == ("onnx" if engine == "auto" else engine)


@pytest.mark.parametrize("engine", MARKED)
@pytest.mark.parametrize("rows", [1, 24])
def test_a_fixed_number_of_rows_gives_the_same_votes(tmp_path, digits, network, rows, engine):
    fixed = OnnxNetwork(read_onnx(save_onnx(tmp_path / "fixed.onnx", shape=(rows, 1, 8, 8))))
    wanted = smoothed(network).certify(digits.image(3), **FEW)
    given = smoothed(fixed).certify(digits.image(3), engine=engine, **FEW, batch_size=100)
    assert given.counts == wanted.counts
    assert given.engine == ("onnx" if engine == "auto" else engine)


@pytest.mark.parametrize("engine", MARKED)
def test_a_normalisation_before_the_file_is_run_too(tmp_path, digits, network, engine):
    graph = read_onnx(save_onnx(tmp_path / "normalised.onnx", mean=0.25, std=0.5))
    wanted = smoothed(network).certify(digits.image(3), **FEW)
    given = smoothed(OnnxNetwork(graph, [0.25], [0.5])).certify(digits.image(3), engine=engine, **FEW)
    assert abs(given.counts.votes - wanted.counts.votes).max() <= 2  # rounded otherwise


@pytest.mark.parametrize("engine", [name for name in ENGINES if name not in ABLE])
def test_others_refuse_by_name(network, digits, engine):
    for model in (network, sc.VotingEnsemble([network, torch_twin()]).eval()):
        with pytest.raises(
            InvalidArgumentError, match=f"engine '{engine}' cannot run an ONNX file.*eager, onnx, openvino"
        ):
            smoothed(model).certify(digits.image(0), engine=engine, **FEW)


def test_ensembles_with_torch_members(network, digits):
    wanted = smoothed(sc.VotingEnsemble([torch_twin()] * 3).eval()).certify(digits.image(3), **FEW)
    whole = sc.VotingEnsemble([network, torch_twin(), network]).eval()
    for engine in ("auto", *ABLE):
        given = smoothed(whole).certify(digits.image(3), engine=engine, **FEW)
        assert (given.counts, given.evaluations) == (wanted.counts, wanted.evaluations)


@pytest.mark.parametrize("engine", MARKED)
def test_an_early_exit_spares_members_that_are_files(network, digits, engine):
    whole = sc.Consensus(k=2).over(sc.VotingEnsemble([network, network, network])).eval()
    given = smoothed(whole).certify(digits.image(3), engine=engine, **FEW)
    wanted = smoothed(network).certify(digits.image(3), **FEW)
    assert (given.counts.votes == wanted.counts.votes).all()
    asked = 3 if engine == "eager" else 2  # which asks the whole ensemble
    assert given.evaluations == asked * wanted.evaluations


def broken(tmp_path, *nodes):
    """A file whose answers come from other nodes after the scores."""
    model = onnx_model(*nearest_mean(), nodes=list(nodes))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, ["n", 10]))
    (tmp_path / "broken.onnx").write_bytes(model.SerializeToString())
    return OnnxNetwork(read_onnx(tmp_path / "broken.onnx"))


def test_a_vote_that_depends_on_its_neighbours_is_refused(tmp_path, digits):
    network = broken(tmp_path, helper.make_node("Softmax", ["y"], ["w"], axis=0))
    with pytest.raises(UnsoundModelError, match="other images of the batch"):
        smoothed(network).certify(digits.image(0), **FEW)


def test_an_answer_by_chance_is_refused(tmp_path, digits):
    chance = helper.make_node("RandomNormalLike", ["y"], ["r"], seed=1.0)
    network = broken(tmp_path, chance, helper.make_node("Add", ["y", "r"], ["w"]))
    with pytest.raises(UnsoundModelError, match="two different answers"):
        smoothed(network).certify(digits.image(0), **FEW)
