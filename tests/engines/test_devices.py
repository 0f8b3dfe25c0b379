"""Where a model runs decides where its noise is made, and shows in the engine's name. Nothing here needs a GPU."""

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.engines import (
    EngineUnavailableError,
    TorchEngine,
    build_engine,
    engine_rule,
    name_on,
)
from smoothcert.engines.runtimes.onnx import OnnxEngine
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.seeding import KeyedGenerator, philox_state, stream_key

IMAGE = torch.zeros(4)


def elsewhere():
    """A model on a device that every torch has: tensors without values."""
    return nn.Linear(4, 3, device="meta").eval()


def test_names_say_the_kind_of_device_unless_it_is_the_cpu():
    assert name_on("torch", torch.device("cpu")) == "torch"
    assert name_on("torch", torch.device("cuda", 1)) == "torch@cuda"
    assert TorchEngine(nn.Linear(4, 3).eval(), 3, IMAGE).engine_name == "torch"
    engine = TorchEngine(elsewhere(), 3, IMAGE)
    assert (engine.engine_name, engine.device.type) == ("torch@meta", "meta")


def test_a_recorded_name_builds_the_same_engine_again():
    model = elsewhere()
    for name in ("auto", "torch", "torch@meta"):
        assert engine_rule(name, model, IMAGE) == "torch@meta"
    assert build_engine("torch@meta", model, 3, IMAGE).engine_name == "torch@meta"
    assert engine_rule("torch", nn.Linear(4, 3), IMAGE) == "torch"


def test_a_name_of_another_device_is_refused():
    """The votes of a run that began there could not be continued here: the noise is another."""
    with pytest.raises(InvalidArgumentError, match=r"'torch@cuda' needs the model on cuda, but it is on cpu"):
        engine_rule("torch@cuda", nn.Linear(4, 3).eval(), IMAGE)
    with pytest.raises(UnknownNameError, match="unknown engine 'fast@cuda'"):
        engine_rule("fast@cuda", nn.Linear(4, 3).eval(), IMAGE)


def test_a_run_made_elsewhere_is_not_resumed_here(tmp_path, monkeypatch):
    points = np.full((2, 4), 0.5, dtype=np.float32)
    dataset = sc.Dataset.from_arrays(points, np.zeros(2, dtype=np.int64))
    classifier = sc.SmoothedClassifier(nn.Linear(4, 3).eval(), sc.Gaussian(0.5), 3)
    how = {"procedure": sc.FixedSample(n=64), "out": tmp_path / "run", "workers": 1}
    monkeypatch.setattr("smoothcert.engines.engine.name_on", lambda name, device: f"{name}@cuda")
    assert sc.certify(classifier, dataset, **how).manifest["engine"] == "torch@cuda"
    monkeypatch.undo()
    with pytest.raises(InvalidArgumentError, match=r"needs the model on cuda"):
        sc.certify(classifier, dataset, resume=True, **how)
    with pytest.raises(sc.errors.ManifestMismatchError, match=r"engine was 'torch@cuda' and is now 'torch'"):
        sc.certify(
            sc.SmoothedClassifier(classifier.model, classifier.noise, 3),
            dataset,
            resume=True,
            engine="torch",
            **how,
        )


def test_onnx_stays_on_the_cpu():
    with pytest.raises(EngineUnavailableError, match="it is on meta"):
        OnnxEngine(elsewhere(), 3, IMAGE)


def test_philox_states_are_whole_blocks_and_use_every_other_bit():
    states = np.array(
        [philox_state(stream_key(1, 0, "estimate", chunk)).view("<u8") for chunk in range(4_096)]
    )
    assert states.shape == (4_096, 2)
    assert (states[:, 1] % 4 == 0).all()
    assert len(np.unique(states[:, 0])) == len(np.unique(states[:, 1])) == 4_096
    bits = np.unpackbits(states.view(np.uint8), axis=1, bitorder="little").mean(axis=0)
    assert (bits[[64, 65]] == 0).all()
    assert (abs(np.delete(bits, [64, 65]) - 0.5) < 0.05).all()  # six standard deviations


def test_the_cpu_generator_is_what_it_was():
    key = stream_key(7, 1, "estimate", 0)
    drawn = [
        torch.empty(64).normal_(generator=made.at(key)) for made in (KeyedGenerator(), KeyedGenerator("cpu"))
    ]
    assert torch.equal(*drawn)


class Philox:
    """Stands in for a CUDA generator: 16 bytes of state."""

    def __init__(self, device):
        self.state = torch.zeros(16, dtype=torch.uint8)

    def get_state(self):
        return self.state

    def set_state(self, state):
        assert (state.dtype, tuple(state.shape)) == (torch.uint8, (16,))
        self.state = state.clone()


def test_a_cuda_generator_is_given_key_and_place(monkeypatch):
    monkeypatch.setattr(torch, "Generator", Philox)
    stream = KeyedGenerator("cuda")
    for key in (b"first", b"second"):
        np.testing.assert_array_equal(stream.at(key).state.numpy(), philox_state(key))
