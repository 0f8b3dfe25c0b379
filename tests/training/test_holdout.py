"""Trainings on all images, or on all but so many."""

import json

import numpy as np
import pytest

import smoothcert as sc
from made_up import write_made_up
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders import make_ensemble
from smoothcert.folders.checkpoint import read_card
from smoothcert.training import load_recipe, recipe_names

SHORT = {"epochs": 2, "seed": 1, "batch_size": 256}


def test_none_trains_on_all_images_and_leaves_no_best(tmp_path):
    card = sc.train({**SHORT, "holdout": "none"}, tmp_path / "a")
    assert card.metrics["train_images"] == 1_297
    assert "holdout_noisy_accuracy" not in card.metrics
    assert not (tmp_path / "a" / "best").exists()
    lines = [json.loads(line) for line in (tmp_path / "a" / "metrics.jsonl").read_text().splitlines()]
    assert [line["holdout_noisy_accuracy"] for line in lines] == [None, None]
    assert sc.train({**SHORT, "holdout": "none"}, tmp_path / "a", resume=True) == card  # and is known again
    whole = sc.load_dataset("digits", "train", holdout=0)
    assert card.dataset["digest"] == whole.digest
    assert len(whole) == 1_297


def test_a_number_holds_out_so_many(tmp_path):
    card = sc.train({**SHORT, "holdout": 50}, tmp_path / "a")
    assert card.metrics["train_images"] == 1_247
    assert (tmp_path / "a" / "best").exists()
    assert read_card(tmp_path / "a").training["holdout"] == 50
    assert "holdout" not in sc.train(SHORT, tmp_path / "b").training


def test_a_stopped_training_without_a_hold_out_goes_on(tmp_path):
    class StoppedError(Exception):
        pass

    def stop(metrics):
        if metrics.epoch == 1:
            raise StoppedError

    config = {**SHORT, "holdout": "none"}
    with pytest.raises(StoppedError):
        sc.train(config, tmp_path / "a", on_epoch=stop)
    assert sc.train(config, tmp_path / "a", resume=True).digest == sc.train(config, tmp_path / "b").digest


def test_what_needs_a_hold_out_asks_for_one(tmp_path):
    with pytest.raises(InvalidArgumentError, match="certify_every=1 certifies hold-out images"):
        sc.TrainConfig(holdout="none", certify_every=1)
    for value in (0, -1, 2.5, "some", True):
        with pytest.raises(InvalidArgumentError, match="holdout"):
            sc.TrainConfig(holdout=value)
    folders = []
    for number, holdout in enumerate(("none", 50, 50)):
        folders.append(tmp_path / str(number))
        sc.train({**SHORT, "seed": number, "holdout": holdout}, folders[-1])
    usual, fifty = sc.load_dataset("digits", "holdout"), sc.load_dataset("digits", "holdout", holdout=50)
    with pytest.raises(InvalidArgumentError, match=r"trained on all training images.*--holdout 2000"):
        make_ensemble(folders, tmp_path / "x", fit="sween", dataset=usual)
    with pytest.raises(InvalidArgumentError, match="held out 50 images, but 200 are given"):
        make_ensemble(folders[1:], tmp_path / "x", fit="sween", dataset=usual)
    made = make_ensemble(folders[1:], tmp_path / "x", fit="sween", dataset=fifty, images=50, seed=1)
    assert made.fitted[0].digest == fifty.digest
    sc.train(SHORT, tmp_path / "usual")
    with pytest.raises(InvalidArgumentError, match="held out different images"):
        make_ensemble([folders[1], tmp_path / "usual"], tmp_path / "y", fit="sween", dataset=fifty)


@pytest.mark.parametrize("name", ["mnist", "cifar10", "svhn", "imagenet", "folder"])
def test_every_format_holds_out_what_is_asked_for(name, tmp_path):
    write_made_up(tmp_path, name, train=40, test=10)

    def labels(split, holdout=None):
        return sc.load_dataset(name, split, tmp_path, holdout=holdout).labels.tolist()

    everything = labels("train", 0)
    assert len(everything) == 40
    for size in (1, 7, 39):
        assert len(labels("holdout", size)) == size
        assert sorted(labels("train", size) + labels("holdout", size)) == sorted(everything)
    if name not in ("imagenet", "folder"):
        assert labels("train", 7) + labels("holdout", 7) == everything  # the last ones are held out
    assert len(labels("holdout")) == 4
    with pytest.raises(InvalidArgumentError, match="there is no hold-out"):
        labels("holdout", 0)
    with pytest.raises(sc.errors.DataError, match="leaves nothing of 40"):
        labels("train", 40)
    for wrong in (-1, 2.0, True, "none"):
        with pytest.raises(InvalidArgumentError, match="holdout must be"):
            labels("train", wrong)


def test_digits_share_a_hold_out_among_the_classes():
    fifty = sc.load_dataset("digits", "holdout", holdout=50)
    assert np.bincount(fifty.labels).tolist() == [5] * 10
    usual = sc.load_dataset("digits", "holdout", holdout=200)
    assert usual.digest == sc.load_dataset("digits", "holdout").digest


def test_rows_of_papers_hold_out_what_the_papers_did():
    """All images; SWEEN's candidates leave out those that its weights are fitted on; denoisers are chosen on some."""
    own = {"cifar10-gaussian-sween": 2_000, "svhn-gaussian": 3_000, "imagenet-gaussian-sween": 1_281}
    for name in recipe_names():
        expected = None if name.startswith("digits") or "denoiser" in name else own.get(name, "none")
        assert load_recipe(name).config().holdout == expected, name
