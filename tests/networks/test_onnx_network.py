"""A network of an ONNX file as a classifier: its identity, its copies, and what it does not have."""

import copy
import hashlib
import pickle
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from tests.own_models import save_onnx

import smoothcert as sc
from smoothcert.certificates import identities
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.folders.own.onnx_file import read_onnx
from smoothcert.networks import OnnxNetwork, holds_onnx, model_digest, parameters_of, surrogate_of


@pytest.fixture
def path(tmp_path):
    return save_onnx(tmp_path / "net.onnx")


@pytest.fixture
def batch():
    return torch.rand(40, 1, 8, 8, generator=torch.Generator().manual_seed(0))


def test_its_digest_is_that_of_the_file(path):
    network = OnnxNetwork(read_onnx(path))
    assert model_digest(network) == hashlib.sha256(path.read_bytes()).hexdigest()
    assert not network.training
    assert parameters_of(network) == 650


def test_a_normalisation_in_front_is_another_network(path, batch):
    plain, graph = OnnxNetwork(read_onnx(path)), read_onnx(path)
    networks = [OnnxNetwork(graph, (mean,), (std,)) for mean, std in [(0.0, 1.0), (0.5, 1.0), (0.5, 0.25)]]
    assert len({model_digest(one) for one in (plain, *networks)}) == 4
    assert len({identities(one) for one in (plain, *networks)}) == 4
    torch.testing.assert_close(networks[2](batch), plain((batch - 0.5) / 0.25))


def test_copies_answer_alike_and_are_the_same(path, batch):
    network = OnnxNetwork(read_onnx(path), (0.2,), (0.5,))
    wanted = network(batch)
    for other in (copy.deepcopy(network), pickle.loads(pickle.dumps(network))):
        assert torch.equal(other(batch), wanted)
        assert identities(other) == identities(network)


def test_identities_are_settled_and_tell_files_apart(path, tmp_path):
    one = OnnxNetwork(read_onnx(path))
    other = OnnxNetwork(read_onnx(save_onnx(tmp_path / "other.onnx", mean=0.1)))
    assert identities(one) == identities(OnnxNetwork(read_onnx(path))) != identities(other)
    assert "unsettled" not in identities(one)[0]


def test_the_digest_of_what_holds_it_covers_the_file(path, tmp_path):
    one, other = (OnnxNetwork(read_onnx(p)) for p in (path, save_onnx(tmp_path / "other.onnx", mean=0.1)))
    denoiser = torch.nn.Conv2d(1, 1, 3, padding=1).eval()
    for whole in (
        lambda net: sc.Denoised(denoiser, net),
        lambda net: torch.nn.Sequential(denoiser, net).eval(),
    ):
        assert model_digest(whole(one)) != model_digest(whole(other))


def test_threads_ask_at_the_same_time(path, batch):
    network = OnnxNetwork(read_onnx(path))
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(network, [batch + number / 100 for number in range(20)]))
    for number, answer in enumerate(answers):
        assert torch.equal(answer, network(batch + number / 100))


def test_it_has_no_gradient(path, batch):
    network = OnnxNetwork(read_onnx(path))
    with pytest.raises(InvalidArgumentError, match="no gradients"):
        surrogate_of(network)
    with pytest.raises(InvalidArgumentError, match="no gradients"):
        surrogate_of(sc.VotingEnsemble([network, network]))
    with pytest.raises(InvalidArgumentError, match="no gradients"):
        network(batch.requires_grad_())


def test_images_of_another_shape_are_told(path):
    with pytest.raises(ModelOutputError, match=r"\(16, 1, 9, 9\)"):
        OnnxNetwork(read_onnx(path))(torch.zeros(16, 1, 9, 9))


def test_members_are_seen_at_any_depth(path):
    network = OnnxNetwork(read_onnx(path))
    assert holds_onnx(sc.VotingEnsemble([sc.VotingEnsemble([network])]).eval())
    assert not holds_onnx(sc.create_model("convnet", num_classes=10, input_shape=(1, 8, 8)))
    assert not holds_onnx(lambda batch: batch)
