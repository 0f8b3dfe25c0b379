"""Training in bfloat16: float32 weights, the same bits after a stop, and a word where it is slow."""

import logging

import pytest
import torch
from safetensors.torch import load_file

from smoothcert.data import load_dataset
from smoothcert.engines import Processor
from smoothcert.errors import CheckpointError
from smoothcert.folders import load_checkpoint
from smoothcert.noise import noise_from
from smoothcert.seeding import generator_for
from smoothcert.training import launching, noisy_accuracy, train

SHORT = {"epochs": 2, "seed": 5, "batch_size": 128, "max_train_images": 384}
BFLOAT16 = {**SHORT, "precision": "bf16-mixed"}


class StopError(Exception):
    """Stands for a crash in the middle of a training."""


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    return {
        name: (folder / name, train(one, folder / name)) for name, one in (("bf16", BFLOAT16), ("f32", SHORT))
    }


def test_weights_stay_float32_and_the_card_says_the_precision(trained):
    (folder, card), (other, plain) = trained["bf16"], trained["f32"]
    weights = load_file(folder / "model.safetensors")
    assert {tensor.dtype for tensor in weights.values() if tensor.is_floating_point()} == {torch.float32}
    assert (card.training["precision"], plain.training["precision"]) == ("bf16-mixed", "32-true")
    assert card.digest != plain.digest
    # Not float32 numbers that were rounded to bfloat16: the optimiser keeps all bits.
    first = next(
        tensor for name, tensor in weights.items() if tensor.is_floating_point() and tensor.ndim == 4
    )
    assert not torch.equal(first, first.bfloat16().float())
    theirs = load_file(other / "model.safetensors")
    assert max(float((weights[name] - theirs[name]).abs().max()) for name in weights) < 0.5


def test_it_learns_and_is_measured_in_float32(trained):
    folder, card = trained["bf16"]
    model, _ = load_checkpoint(folder)
    again = noisy_accuracy(
        model,
        load_dataset("digits", "holdout"),
        noise_from(card.noise),
        draws=10,
        generator=generator_for(5, 0, "holdout-noise"),
    )
    assert card.metrics["holdout_noisy_accuracy"] == again
    assert again > trained["f32"][1].metrics["holdout_noisy_accuracy"] - 0.1


def test_a_stopped_training_ends_with_the_same_bits_and_in_no_other_precision(trained, tmp_path):
    def stop(metrics):
        raise StopError

    with pytest.raises(StopError):
        train(BFLOAT16, tmp_path / "m", on_epoch=stop)
    with pytest.raises(CheckpointError, match="precision"):
        train(SHORT, tmp_path / "m", resume=True)
    card = train(BFLOAT16, tmp_path / "m", resume=True)
    assert card.digest == trained["bf16"][1].digest


@pytest.mark.parametrize("has, said", [(False, 1), (True, 0), (None, 0)])
def test_a_processor_without_bfloat16_is_named(monkeypatch, caplog, has, said):
    monkeypatch.setattr(launching, "this_processor", lambda: Processor(None, has))
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        launching.warn_of_emulation("32-true")
        assert caplog.records == []
        launching.warn_of_emulation("bf16-mixed")
    assert len(caplog.records) == said
    assert all("no bfloat16 instructions" in record.message for record in caplog.records)
