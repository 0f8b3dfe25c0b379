"""The laws of all registered networks: finite answers, the engines agree, a folder gives them back."""

import shutil

import pytest
import torch

from networks.every_model import MEAN, NAMES, STD, images, parameters_of, settled, small_shape
from small_networks import small_card
from smoothcert.engines import build_engine
from smoothcert.folders import load_checkpoint, save_checkpoint
from smoothcert.networks import MODELS, Normalize, weights_digest

SMALL = [name for name in NAMES if parameters_of(name) < 3_000_000]


@pytest.mark.parametrize("name", NAMES)
def test_finite_answers_that_depend_on_the_image(name):
    shape, classes = MODELS[name].input_shape, MODELS[name].num_classes
    model = settled(name, classes, shape, rows=2)
    with torch.no_grad():
        logits = model(images(shape, 2))
    assert logits.shape == (2, classes)
    assert torch.isfinite(logits).all()
    assert not torch.equal(logits[0], logits[1])
    assert isinstance(next(model.children()), Normalize)


def assert_agreement(engine, model, shape):
    batch = images(shape, 16, seed=1)
    with torch.no_grad():
        expected = model(batch)
    scale = max(1.0, float(expected.abs().max()))
    torch.testing.assert_close(engine(batch)[:, 0], expected, rtol=0, atol=1e-4 * scale)


@pytest.mark.parametrize("name", NAMES)
def test_the_torch_engine_agrees(name):
    model, shape = settled(name), small_shape(name)
    engine = build_engine("torch", model, 10, images(shape, 1)[0])
    assert engine._run is not model, "folding was refused, so the engine is slower than it could be"
    assert_agreement(engine, model, shape)


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_small_network_exports_to_onnx(name):
    model, shape = settled(name), small_shape(name)
    engine = build_engine("onnx", model, 10, images(shape, 1)[0])
    assert engine.engine_name == "onnx"  # torch would mean that the export failed or answered otherwise
    assert_agreement(engine, model, shape)


@pytest.mark.parametrize("name", NAMES)
def test_a_folder_gives_every_network_back(name, tmp_path):
    original, shape = settled(name), small_shape(name)
    card = small_card(architecture=name, input_shape=shape, mean=MEAN, std=STD)
    saved = save_checkpoint(original, card, tmp_path / "model")
    model, found = load_checkpoint(tmp_path / "model")
    shutil.rmtree(tmp_path / "model")  # up to 90 MB, which pytest would keep
    assert found == saved
    assert saved.digest == weights_digest(original)
    batch = images(shape, 2)
    with torch.no_grad():
        assert torch.equal(model(batch), original(batch))
