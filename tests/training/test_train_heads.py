"""Networks with several heads train, stop, continue and are told apart like any other."""

import pytest

from smoothcert.errors import CheckpointError, InvalidArgumentError, UnknownNameError
from smoothcert.folders import load_checkpoint
from smoothcert.networks import MultiHead
from smoothcert.training import TrainConfig, train

SHORT = {"epochs": 2, "seed": 5, "batch_size": 600, "heads": 3, "split": "stage3"}


class StopError(Exception):
    """Stands for a crash in the middle of a training."""


def test_a_stopped_training_of_heads_continues_and_ends_with_the_same_bits(tmp_path):
    whole = train(SHORT, tmp_path / "whole")
    assert (whole.heads, whole.split) == (3, "stage3")

    def stop(metrics):
        raise StopError

    with pytest.raises(StopError):
        train(SHORT, tmp_path / "parts", on_epoch=stop)
    plain = {name: value for name, value in SHORT.items() if name not in ("heads", "split")}
    with pytest.raises(CheckpointError, match="unfinished training with another heads, split"):
        train(plain, tmp_path / "parts", resume=True)
    assert train(SHORT, tmp_path / "parts", resume=True).digest == whole.digest
    model, card = load_checkpoint(tmp_path / "parts")
    assert isinstance(model, MultiHead)
    assert card.training == TrainConfig(**SHORT).model_dump(mode="json")
    assert isinstance(load_checkpoint(tmp_path / "parts" / "best")[0], MultiHead)
    assert train(SHORT, tmp_path / "parts", resume=True).digest == whole.digest
    with pytest.raises(CheckpointError, match="trained with another heads, split"):
        train(plain, tmp_path / "parts", resume=True)


def test_heads_change_nothing_for_those_who_want_none():
    plain = TrainConfig(seed=1)
    assert not {"heads", "split"} & set(plain.model_dump())
    assert plain.changed(heads=2, split="34%").model_dump()["split"] == "34%"
    assert TrainConfig(**plain.changed(heads=2).model_dump()) == plain.changed(heads=2) != plain
    assert plain.changed(heads=2).scaled(5).heads == 2


@pytest.mark.parametrize("heads", [0, 1.5, True, "many"])
def test_wrong_numbers_of_heads(heads):
    with pytest.raises(InvalidArgumentError, match="'heads' is wrong"):
        TrainConfig(heads=heads)


def test_wrong_splits():
    with pytest.raises(UnknownNameError, match="unknown split 'stage9'"):
        TrainConfig(heads=2, split="stage9")
    with pytest.raises(InvalidArgumentError, match="heads is not given"):
        TrainConfig(split="stage3")
