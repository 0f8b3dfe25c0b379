"""`sweep` on the command line: one table of trainings that differ in one value."""

import json
import math

import pytest

from smoothcert.errors import CheckpointError
from smoothcert.folders import load_checkpoint
from smoothcert.training import TrainConfig, train
from smoothcert.workflows import sweep as sweep_module
from smoothcert.workflows.training_process import train_in_process

SHORT = ("--epochs", "1", "--set", "batch_size=1000", "--set", "max_train_images=200")
CERTIFY = ("--first", "12", "--n0", "20", "--n", "100", "--workers", "1")


@pytest.fixture
def quick(monkeypatch):
    """Train in this process: a new one imports torch again, for seconds."""
    trained = []

    def here(config, out, *, resume, show_progress):
        trained.append(out.name)
        train(config, out, resume=resume)

    monkeypatch.setattr(sweep_module, "train_in_process", here)
    return trained


def test_a_sweep_over_heads(smoothcert, quick, tmp_path):
    command = ("sweep", "digits-some-gaussian", *SHORT, *CERTIFY, "--over", "heads", "--out", tmp_path)
    code, out, err = smoothcert(*command, "--values", "2,3")
    assert code == 0, err
    assert quick == ["heads-2", "heads-3"]
    assert "heads=3 (2 of 2): certifying 12 images" in err
    for heading in ("ACR", "r=0", "M mult-adds", "parameters", "s/epoch", "train MB", "cert. s/image"):
        assert heading in out
    assert "heads=2: each head alone has" in out
    assert "images 0 to 11" in " ".join(out.split())
    rows = json.loads((tmp_path / "sweep.json").read_text())
    for row, heads in zip(rows, (2, 3), strict=True):
        model, card = load_checkpoint(tmp_path / "models" / f"heads-{heads}")
        assert (row["value"], row["heads"]) == (str(heads), heads)
        assert row["parameters"] == sum(weight.numel() for weight in model.parameters())
        assert f"{row['parameters']:,}" in out
        assert len(row["head_accuracy"]) == heads
        assert all(0 < share < 1 for share in row["head_accuracy"])
        assert row["training_seconds"] == card.metrics["seconds"] > 0
        assert row["memory_mb"] > 100
        assert (card.training["seed"], card.training["epochs"]) == (0, 1)
        assert row["run"]["images"] == 12
        assert row["certification_seconds"] == pytest.approx(row["run"]["seconds"] / 12)
        assert math.isfinite(row["run"]["acr"])
    assert rows[0]["multiply_adds"] < rows[1]["multiply_adds"]

    # Once more, with another value: what is there stays as it is.
    before = (tmp_path / "models" / "heads-2" / "model.json").stat().st_mtime_ns
    code, again, err = smoothcert(*command, "--values", "2,4", "--json")
    assert code == 0, err
    assert json.loads(again)[0] == rows[0]
    assert json.loads(again)[1]["heads"] == 4
    assert (tmp_path / "models" / "heads-2" / "model.json").stat().st_mtime_ns == before


@pytest.mark.parametrize(
    "recipe, over, values, stored",
    [
        ("digits-some-gaussian", "split", "0%,100%", ["0%", "100%"]),
        ("digits-some-gaussian", "weights", "soft,hard,high-loss", ["soft", "hard", "high-loss"]),
        ("digits-gaussian", "lr", "0.1,0.05", [0.1, 0.05]),
    ],
)
def test_sweeps_over_split_threshold_scheme_and_anything_else(
    recipe, over, values, stored, smoothcert, quick, tmp_path
):
    command = ("sweep", recipe, *SHORT, *CERTIFY, "--over", over, "--values", values, "--out", tmp_path)
    code, out, err = smoothcert(*command, "--json")
    assert code == 0, err
    assert [row["value"] for row in json.loads(out)] == values.split(",")
    cards = [load_checkpoint(tmp_path / "models" / name)[1].training for name in quick]
    found = [card["settings"].get(over) if over == "weights" else card[over] for card in cards]
    assert found == stored
    if recipe == "digits-gaussian":
        assert [row["head_accuracy"] for row in json.loads(out)] == [[], []]


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (("--over", "heads", "--values", "5,1"), "needs 2 heads or more, got heads=1; set heads=5"),
        (("--over", "heads", "--values", "5,5"), "--values must be different values"),
        (("--over", "heads", "--values", "5,"), "--values must be different values"),
        (("--over", "split", "--values", "34%,stage9"), "unknown split 'stage9'"),
        (("--over", "weights", "--values", "soft,harder"), "weights must be one of hard, high-loss, soft"),
        (("--over", "hats", "--values", "1,2"), "knows no 'hats'"),
        (("--over", "heads", "--values", "2,3", "--first", "0"), "first must lie in"),
        (("--over", "heads", "--values", "2,3", "--n", "0"), "n"),
    ],
)
def test_mistakes_are_refused_before_anything_is_trained(
    arguments, sentence, smoothcert, refused, quick, tmp_path
):
    result = smoothcert("sweep", "digits-some-gaussian", *arguments, "--out", tmp_path / "s")
    assert sentence in refused(result)
    assert quick == []
    assert not (tmp_path / "s").exists()


def test_a_stopped_sweep_says_how_to_go_on(smoothcert, monkeypatch, tmp_path):
    def interrupted(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(sweep_module, "train_in_process", interrupted)
    command = ("sweep", "digits-some-gaussian", "--over", "heads", "--values", "2,3", "--out", tmp_path)
    code, _, err = smoothcert(*command)
    assert code == 130
    assert "stopped; the same command continues" in err


@pytest.mark.slow
def test_a_training_in_a_process_of_its_own_is_the_training_itself_and_its_errors_come_back(tmp_path):
    config = TrainConfig(epochs=1, batch_size=1000, max_train_images=200, seed=4, heads=2)
    train_in_process(config, tmp_path / "process")
    here = train(config, tmp_path / "here")
    assert load_checkpoint(tmp_path / "process")[1].digest == here.digest
    with pytest.raises(CheckpointError, match="already holds a model trained with another seed"):
        train_in_process(config.changed(seed=5), tmp_path / "process", resume=True)
