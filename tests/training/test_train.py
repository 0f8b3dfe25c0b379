"""Training: good enough, the same for the same seed, and without traces outside its folder."""

import json

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file

from made_up import write_made_up
from smoothcert.data import load_dataset
from smoothcert.errors import CheckpointError, InvalidArgumentError, ModelOutputError
from smoothcert.folders import load_checkpoint
from smoothcert.noise import noise_from
from smoothcert.seeding import generator_for
from smoothcert.training import TrainConfig, noisy_accuracy, train
from smoothcert.training.outputs.folder import only_training_in

SHORT = {"epochs": 2, "seed": 5, "batch_size": 256}


def test_same_seed_same_bits_whatever_torch_was_doing(tmp_path):
    threads = torch.get_num_threads()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        first = train(SHORT, tmp_path / "first")
        torch.manual_seed(2)
        torch.set_num_threads(2)
        try:
            state = torch.random.get_rng_state()
            second = train(TrainConfig(**SHORT), tmp_path / "second")
            assert torch.equal(torch.random.get_rng_state(), state)
            assert torch.get_num_threads() == 2
        finally:
            torch.set_num_threads(threads)
    third = train({**SHORT, "seed": 6}, tmp_path / "third")
    assert first.digest == second.digest
    assert first.digest != third.digest
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("first", "second")]
    assert weights[0] == weights[1]


def test_card_tells_how_the_model_was_made(tmp_path):
    epochs = []
    returned = train({**SHORT, "sigma": 0.5, "noise": "laplace"}, tmp_path / "m", on_epoch=epochs.append)
    model, card = load_checkpoint(tmp_path / "m")
    assert card == returned
    assert card.training == TrainConfig(**SHORT, sigma=0.5, noise="laplace").model_dump(mode="json")
    assert noise_from(card.noise).std == pytest.approx(0.5)
    assert card.dataset == {"name": "digits", "digest": load_dataset("digits", "train").digest}
    assert (card.method, card.architecture, card.class_names) == ("gaussian", "convnet", tuple("0123456789"))
    assert [metrics.epoch for metrics in epochs] == [1, 2]
    assert epochs[1].loss < epochs[0].loss
    assert 0 < epochs[0].seconds < epochs[1].seconds
    # The figure in the card is about the weights in the folder: measured again, it is the same.
    again = noisy_accuracy(
        model,
        load_dataset("digits", "holdout"),
        noise_from(card.noise),
        draws=10,
        generator=generator_for(5, 0, "holdout-noise"),
    )
    assert card.metrics["holdout_noisy_accuracy"] == epochs[1].holdout_noisy_accuracy == again


def test_without_a_seed_one_is_drawn_and_recorded(tmp_path):
    options = {"epochs": 1, "batch_size": 1097}
    cards = [train(options, tmp_path / name) for name in ("a", "b")]
    assert cards[0].training["seed"] != cards[1].training["seed"]
    again = train({**options, "seed": cards[0].training["seed"]}, tmp_path / "c")
    assert again.digest == cards[0].digest
    assert (
        train(options, tmp_path / "a", resume=True) == cards[0]
    )  # no seed asked for: the finished one will do


def test_finished_training_is_not_repeated(tmp_path):
    card = train(SHORT, tmp_path / "m")
    calls = []
    assert train(SHORT, tmp_path / "m", on_epoch=calls.append, resume=True) == card
    assert calls == []
    with pytest.raises(CheckpointError, match="trained with another sigma, epochs; choose another folder"):
        train({**SHORT, "epochs": 3, "sigma": 0.5}, tmp_path / "m", resume=True)
    with pytest.raises(CheckpointError, match="another seed"):
        train({**SHORT, "seed": 1}, tmp_path / "m", resume=True)
    content = json.loads((tmp_path / "m" / "model.json").read_text())
    content["dataset"]["digest"] = "other"
    (tmp_path / "m" / "model.json").write_text(json.dumps(content))
    with pytest.raises(CheckpointError, match="another dataset digest"):
        train(SHORT, tmp_path / "m", resume=True)


class StopError(Exception):
    """Stands for a crash in the middle of a training."""


def test_a_folder_with_a_training_in_it_is_refused_unless_it_is_resumed(tmp_path):
    def stop(metrics):
        raise StopError

    begun = train(SHORT, tmp_path / "fresh", resume=True)  # starts where there is nothing to continue
    for out, what in ((tmp_path / "m", "an unfinished training"), (tmp_path / "fresh", "a trained model")):
        if out.name == "m":
            with pytest.raises(StopError):
                train(SHORT, out, on_epoch=stop)
        files = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
        with pytest.raises(CheckpointError, match=f"already holds {what}; go on from it with resume=True"):
            train(SHORT, out)
        assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == files
    assert train(SHORT, tmp_path / "m", resume=True).digest == begun.digest


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
def test_a_stopped_training_continues_and_ends_with_the_same_bits(tmp_path, optimizer):
    config = {**SHORT, "epochs": 4, "optimizer": optimizer, "lr": 0.01}
    whole = train(config, tmp_path / "whole")

    def stop(metrics):
        if metrics.epoch == 2:
            raise StopError

    state, threads = torch.random.get_rng_state(), torch.get_num_threads()
    with pytest.raises(StopError):
        train(config, tmp_path / "parts", on_epoch=stop)
    assert not (tmp_path / "parts" / "model.json").exists()
    assert torch.equal(torch.random.get_rng_state(), state)
    assert torch.get_num_threads() == threads
    seen = []
    card = train(config, tmp_path / "parts", on_epoch=seen.append, resume=True)
    assert [metrics.epoch for metrics in seen] == [3, 4]
    assert card.digest == whole.digest
    best = [load_checkpoint(tmp_path / name / "best")[1].digest for name in ("whole", "parts")]
    assert best[0] == best[1]
    lines = [json.loads(line) for line in (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    assert lines[-1]["parts"].keys() == {"cross_entropy"}
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == [
        "best",
        "metrics.jsonl",
        "model.json",
        "model.safetensors",
    ]


def test_a_stopped_training_without_a_seed_keeps_the_one_it_drew(tmp_path):
    config = {"epochs": 2, "batch_size": 256}
    seen = []

    def stop(metrics):
        seen.append(metrics)
        if len(seen) == 1:
            raise StopError

    with pytest.raises(StopError):
        train(config, tmp_path / "m", on_epoch=stop)
    card = train(config, tmp_path / "m", on_epoch=stop, resume=True)
    again = train({**config, "seed": card.training["seed"]}, tmp_path / "again")
    assert again.digest == card.digest


def test_an_unfinished_training_with_other_settings_is_not_continued(tmp_path):
    def stop(metrics):
        raise StopError

    with pytest.raises(StopError):
        train(SHORT, tmp_path / "m", on_epoch=stop)
    with pytest.raises(
        CheckpointError, match="unfinished training with another sigma; choose another folder"
    ):
        train({**SHORT, "sigma": 0.5}, tmp_path / "m", resume=True)
    (tmp_path / "m" / "training.safetensors").write_bytes(b"nonsense")
    with pytest.raises(CheckpointError, match=r"damaged .* remove it to train from the start"):
        train(SHORT, tmp_path / "m", resume=True)


@pytest.mark.parametrize("epochs", [1, 3])
def test_the_best_epoch_is_chosen_on_the_hold_out(tmp_path, epochs):
    seen = []
    train({**SHORT, "epochs": epochs, "lr": 0.05}, tmp_path / "m", on_epoch=seen.append)
    _, card = load_checkpoint(tmp_path / "m" / "best")
    best = max(seen, key=lambda metrics: metrics.holdout_noisy_accuracy)
    assert card.metrics["epoch"] == best.epoch
    assert card.metrics["holdout_noisy_accuracy"] == best.holdout_noisy_accuracy


def test_hold_out_images_are_certified_when_asked(tmp_path):
    seen = []
    options = {"certify_every": 2, "certify_images": 10, "certify_votes": 200, "epochs": 3}
    card = train({**SHORT, **options}, tmp_path / "m", on_epoch=seen.append)
    assert [metrics.holdout_acr is None for metrics in seen] == [True, False, False]
    assert card.metrics["holdout_acr"] == seen[-1].holdout_acr


@pytest.mark.slow
def test_two_processes_follow_the_loss_curve_of_one(tmp_path):
    # No batch norm, whose statistics are over a process's own rows; a small rate, so that rounding stays small.
    config = {"model": "lenet", "dataset": "mnist", "epochs": 2, "seed": 1, "lr": 0.01, "batch_size": 50}
    write_made_up(tmp_path / "data", "mnist", train=240, test=24)
    curves = []
    for devices in (1, 2):
        out = tmp_path / f"on-{devices}"
        train({**config, "data_dir": str(tmp_path / "data")}, out, devices=devices)
        curves.append([json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()])
    for alone, shared in zip(*curves, strict=True):
        assert shared["loss"] == pytest.approx(alone["loss"], rel=1e-5)
    one, two = (load_checkpoint(tmp_path / f"on-{devices}")[0] for devices in (1, 2))
    for left, right in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.allclose(left, right, atol=1e-5)


def test_diverged_training_stops_with_its_cause(tmp_path):
    with pytest.raises(
        ModelOutputError, match=r"loss became (nan|inf) in epoch \d \(cross_entropy .* below lr=1e\+30"
    ):
        train({**SHORT, "lr": 1e30}, tmp_path / "m")
    assert not (tmp_path / "m" / "model.json").exists()


def test_wrong_settings_and_places_are_refused_first(tmp_path):
    with pytest.raises(InvalidArgumentError, match="'sigma'"):
        train({"sigma": 0}, tmp_path / "m")
    (tmp_path / "file").write_text("")
    with pytest.raises(CheckpointError, match="is a file; choose a folder"):
        train(SHORT, tmp_path / "file")


def test_digits_at_a_quarter_reach_nine_tenths(tmp_path):
    card = train({"sigma": 0.25, "epochs": 20, "seed": 0}, tmp_path / "m")
    assert card.metrics["holdout_noisy_accuracy"] > 0.9
    model, _ = load_checkpoint(tmp_path / "m")
    test = load_dataset("digits", "test")
    found = noisy_accuracy(model, test, noise_from(card.noise), draws=10, generator=generator_for(0, 0, "t"))
    assert found > 0.9


def test_a_folder_takes_one_training_at_a_time(tmp_path):
    with (
        only_training_in(tmp_path / "m"),
        pytest.raises(CheckpointError, match="another training is at work"),
    ):
        train(SHORT, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    train(SHORT, tmp_path / "m")


def test_the_best_model_of_another_training_is_not_taken_over(tmp_path):
    train(SHORT, tmp_path / "m")
    for name in ("model.json", "model.safetensors"):
        (tmp_path / "m" / name).unlink()
    with pytest.raises(CheckpointError, match="best holds a model of another training"):
        train({**SHORT, "seed": 6}, tmp_path / "m")
    train(SHORT, tmp_path / "m")  # the same one may be replaced


def test_another_network_is_named_before_its_weights_are_tried(tmp_path):
    def stop(metrics):
        raise StopError

    with pytest.raises(StopError):
        train(SHORT, tmp_path / "m", on_epoch=stop)
    with pytest.raises(CheckpointError, match="unfinished training with another model;"):
        train({**SHORT, "model": "resnet8"}, tmp_path / "m", resume=True)


def test_a_state_without_momenta_is_damaged(tmp_path):
    def stop(metrics):
        raise StopError

    with pytest.raises(StopError):
        train(SHORT, tmp_path / "m", on_epoch=stop)
    path = tmp_path / "m" / "training.safetensors"
    with safe_open(path, framework="pt") as file:
        kept = {name: file.get_tensor(name) for name in file.keys() if "optimizer" not in name}  # noqa: SIM118
        header = file.metadata()
    save_file(kept, path, header)
    with pytest.raises(CheckpointError, match="damaged"):
        train(SHORT, tmp_path / "m", resume=True)


def test_weights_that_blew_up_in_the_last_step_are_not_a_success(tmp_path):
    with pytest.raises(ModelOutputError, match=r"training has diverged|loss became"):
        train({**SHORT, "epochs": 1, "lr": 1e30, "max_train_images": 20}, tmp_path / "m")
    assert not (tmp_path / "m" / "model.json").exists()


@pytest.mark.slow
def test_an_error_in_the_first_of_two_processes_ends_both(tmp_path):
    config = {**SHORT, "lr": 1e30, "epochs": 1, "max_train_images": 20}
    with pytest.raises(ModelOutputError):
        train(config, tmp_path / "m", devices=2)
