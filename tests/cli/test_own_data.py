"""A user's own file on the command line: certified, continued, audited, refused once its content is another."""

import json

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.folders import read_card

FAST = ("--n", "128", "--n0", "64", "--seed", "1", "--engine", "torch", "--workers", "1")


@pytest.fixture
def arrays(digits):
    """The first test images of the digits as a user may keep them: channels last."""
    return {
        "images": digits.images[:40].transpose(0, 2, 3, 1),
        "labels": digits.labels[:40],
        "layout": "NHWC",
    }


@pytest.fixture
def file(arrays, tmp_path):
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "my.npz", **arrays)
    return tmp_path / "data" / "my.npz"


def certified(smoothcert, model, file, out, *options):
    code, _, err = smoothcert("certify", model, "--dataset", file, *options, *FAST, "--out", out)
    assert code == 0, err
    return sc.Run.open(out)


def test_a_file_is_certified_continued_and_audited(smoothcert, model_folder, file, arrays, refused, tmp_path):
    options = ("--offset", "1", "--every", "3", "--max", "4")
    run = certified(smoothcert, model_folder, file, tmp_path / "run", *options)
    assert run.manifest["indices"] == [1, 4, 7, 10]
    assert {key: run.manifest["dataset"][key] for key in ("name", "split")} == {
        "name": "my.npz",
        "split": "test",
    }
    # The same images under their registered name give the same certificates.
    twin = certified(smoothcert, model_folder, "digits", tmp_path / "twin", *options)
    assert run.results.radius.tolist() == twin.results.radius.tolist()
    assert run.results.predicted.tolist() == twin.results.predicted.tolist()
    again = certified(smoothcert, model_folder, file, tmp_path / "run", *options, "--resume")
    assert again.results.radius.tolist() == run.results.radius.tolist()
    code, out, _ = smoothcert("audit", tmp_path / "run", "--workers", 1)
    assert (code, "can be trusted" in out) == (0, True)
    assert str(file) in out

    moved = file.rename(tmp_path / "elsewhere.npz")
    code, out, _ = smoothcert("audit", tmp_path / "run", "--workers", 1)
    assert (code, "cannot be read" in out) == (3, True)
    assert smoothcert("audit", tmp_path / "run", "--dataset", moved, "--workers", 1)[0] == 0

    arrays["images"] = arrays["images"].copy()
    arrays["images"][39, 0, 0, 0] ^= 1  # not even among those certified
    np.savez(file, **arrays)
    code, out, _ = smoothcert("audit", tmp_path / "run", "--workers", 1)
    assert (code, "are not those of the run" in out) == (1, True)
    command = (
        "certify",
        model_folder,
        "--dataset",
        file,
        *options,
        *FAST,
        "--out",
        tmp_path / "run",
        "--resume",
    )
    assert "dataset.digest" in refused(smoothcert(*command))


def test_a_path_in_a_manifest_is_not_followed(smoothcert, model_folder, file, tmp_path):
    """Without a noted place an audit reads nothing, whatever file has the name."""
    import sqlite3
    from contextlib import closing

    certified(smoothcert, model_folder, file, tmp_path / "run", "--first", "2")
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as connection, connection:
        connection.execute("DELETE FROM origin")
    code, out, _ = smoothcert("audit", tmp_path / "run", "--model", model_folder, "--workers", 1)
    assert (code, "give them with --dataset FILE" in out) == (3, True)


def test_predict_takes_it_too_and_its_first_images(smoothcert, model_folder, file, refused, tmp_path):
    code, out, _ = smoothcert(
        "predict", model_folder, "--dataset", file, "--n", "100", "--json", "--workers", "1"
    )
    assert (code, [row["idx"] for row in json.loads(out)["answers"]]) == (0, list(range(10)))
    options = ("--indices", "3,5,9", "--n", "100", "--json", "--workers", "1")
    code, out, _ = smoothcert("predict", model_folder, "--dataset", file, *options)
    assert (code, [row["idx"] for row in json.loads(out)["answers"]]) == (0, [3, 5, 9])
    said = refused(smoothcert("predict", model_folder, "--dataset", file.with_name("typo.npz")))
    assert "typo.npz is no folder and no .npz file" in said
    said = refused(smoothcert("predict", model_folder, "--dataset", file, "--split", "train"))
    assert "train_images and train_labels" in said
    assert "has no split 'valid'" in refused(smoothcert("predict", model_folder, "--split", "valid"))


def test_another_split_is_that_of_the_training(smoothcert, model_folder, refused, tmp_path):
    run = certified(smoothcert, model_folder, "digits", tmp_path / "run", "--split", "holdout", "--max", "2")
    assert run.manifest["dataset"] == sc.load_dataset("digits", "holdout").record
    code, out, _ = smoothcert("audit", tmp_path / "run", "--workers", 1)
    assert (code, "can be trusted" in out) == (0, True)
    chosen = ("--offset", "199", "--every", "2")
    run = certified(smoothcert, model_folder, "digits", tmp_path / "last", "--split", "holdout", *chosen)
    assert run.manifest["indices"] == [199]


def test_images_that_chose_weights_stay_refused_on_their_split(smoothcert, model_folder, refused, tmp_path):
    making = ("--fit", "sween", "--dataset", "digits", "--images", "20", "--draws", "2", "--seed", "1")
    assert smoothcert("ensemble", model_folder, model_folder, *making, "--out", tmp_path / "e")[0] == 0
    command = ("certify", tmp_path / "e", "--split", "holdout", *FAST, "--out", tmp_path / "run")
    assert "was among the 20 images that chose this model's weights" in refused(
        smoothcert(*command, "--max", "3")
    )
    assert smoothcert(*command, "--offset", "20", "--max", "2")[0] == 0


def test_a_model_is_trained_on_a_file_and_a_hold_out_of_its_own_size(smoothcert, digits, tmp_path):
    train = sc.load_dataset("digits", "train")
    file = tmp_path / "mine.npz"
    names = {"train_images": train.images[:200], "train_labels": train.labels[:200]}
    np.savez(file, **names, test_images=digits.images[:9], test_labels=digits.labels[:9])
    options = ("--dataset", file, "--epochs", "1", "--holdout", "30", "--seed", "1")
    code, _, err = smoothcert("train", "digits-gaussian", *options, "--out", tmp_path / "m")
    assert code == 0, err
    card = read_card(tmp_path / "m")
    assert card.dataset == {"name": "mine.npz", "digest": sc.load_dataset(file, "train", holdout=30).digest}
    assert (card.training["dataset"], card.training["data_dir"]) == ("npz", str(file))
    run = certified(smoothcert, tmp_path / "m", file, tmp_path / "run", "--split", "holdout", "--max", "2")
    assert run.manifest["dataset"] == {**sc.load_dataset(file, "holdout", holdout=30).record, "holdout": 30}
    assert smoothcert("audit", tmp_path / "run", "--workers", 1)[0] == 0
    # Moved, the file is still the same data: a training goes on from where it was.
    moved = file.rename(tmp_path / "data.npz")
    again = ("--dataset", moved, "--epochs", "1", "--holdout", "30", "--seed", "1", "--out", tmp_path / "m")
    assert smoothcert("train", "digits-gaussian", *again)[0] == 0


def test_a_recipe_may_name_a_file(tmp_path):
    config = sc.TrainConfig(dataset="data/mine.npz", epochs=1)
    assert (config.dataset, config.data_dir) == ("npz", "data/mine.npz")
    other = config.changed(dataset="digits")
    assert (other.dataset, other.data_dir) == ("digits", None)
    assert config.changed(epochs=2).data_dir == "data/mine.npz"
    assert config.changed(dataset="other.npz").data_dir == "other.npz"
    with pytest.raises(sc.errors.UnknownNameError, match="unknown dataset 'nothing'"):
        sc.TrainConfig(dataset="nothing")


def test_the_help_says_what_indices_look_like(smoothcert, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for command in ("certify", "predict", "attack"):
        text = " ".join(smoothcert(command, "--help")[1].replace("│", " ").split())
        assert "3,5,9 are three; A:B is A to B-1" in text
        assert "20:80:5 takes every 5th of 20 to 79" in text
        assert "--split" in text
