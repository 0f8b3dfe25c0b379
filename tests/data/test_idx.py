"""idx files written by hand are read as what they hold; damaged ones are named."""

import gzip
import hashlib

import numpy as np
import pytest

from made_up import idx, write_made_up
from smoothcert.data import load_dataset, read_idx
from smoothcert.errors import DataError

SIZES = {"train": 40, "t10k": 7}


def arrays(stem):
    rng = np.random.default_rng(len(stem))
    return (
        rng.integers(0, 256, (SIZES[stem], 28, 28), dtype=np.uint8),
        rng.integers(0, 10, SIZES[stem], dtype=np.uint8),
    )


@pytest.fixture
def folder(tmp_path):
    for stem in SIZES:
        images, labels = arrays(stem)
        (tmp_path / f"{stem}-images-idx3-ubyte.gz").write_bytes(gzip.compress(idx(images)))
        (tmp_path / f"{stem}-labels-idx1-ubyte").write_bytes(idx(labels))
    return tmp_path


def test_splits_hold_what_the_files_hold(folder):
    images, labels = arrays("t10k")
    test = load_dataset("mnist", "test", folder)
    np.testing.assert_array_equal(test.images[:, 0], images)
    np.testing.assert_array_equal(test.labels, labels)
    train, holdout = load_dataset("mnist", "train", folder), load_dataset("mnist", "holdout", folder)
    np.testing.assert_array_equal(np.concatenate([train.images, holdout.images])[:, 0], arrays("train")[0])
    assert (len(train), len(holdout)) == (36, 4)
    assert train.input_shape == (1, 28, 28)


def test_a_folder_of_the_data_sets_name_is_found(folder, tmp_path):
    home = tmp_path / "all"
    (home / "fashion-mnist").mkdir(parents=True)
    for path in folder.glob("*ubyte*"):
        path.rename(home / "fashion-mnist" / path.name)
    assert load_dataset("fashion-mnist", "test", home).class_names[1] == "Trouser"


def test_missing_and_damaged_files_are_named(folder):
    with pytest.raises(DataError, match="data_dir"):
        load_dataset("mnist")
    labels = folder / "t10k-labels-idx1-ubyte"
    for content, message in (
        (idx(arrays("t10k")[1])[:-1], "cut short"),
        (idx(arrays("t10k")[1][1:]), "6 labels for 7 images"),
        (idx(arrays("t10k")[1] + np.uint8(10)), r"has the label 1\d, but labels lie in 0\.\.9"),
        (idx(arrays("t10k")[0]), "must be a list of integers"),
        (b"PK..", "no idx file"),
        (b"", "no idx"),
    ):
        labels.write_bytes(content)
        with pytest.raises(DataError, match=message):
            load_dataset("mnist", "test", folder)
    labels.unlink()
    with pytest.raises(DataError, match="t10k-labels-idx1-ubyte"):
        load_dataset("mnist", "test", folder)
    (folder / "t10k-labels-idx1-ubyte").write_bytes(idx(arrays("t10k")[1]))
    (folder / "t10k-images-idx3-ubyte").write_bytes(idx(arrays("t10k")[0][:, 1:]))
    with pytest.raises(DataError, match="must hold 28x28 images"):
        load_dataset("mnist", "test", folder)
    zipped = folder / "t10k-images-idx3-ubyte.gz"
    zipped.write_bytes(zipped.read_bytes()[:-20])
    with pytest.raises(DataError, match="get the file again"):
        read_idx(zipped)


def test_the_other_data_set_s_files_are_refused(tmp_path, monkeypatch):
    write_made_up(tmp_path / "mnist", "mnist", train=20, test=5)
    folder = next(path for path in tmp_path.rglob("t10k-labels*")).parent
    labels = read_idx(next(folder.glob("t10k-labels*")))
    known = {hashlib.sha256(labels.tobytes()).hexdigest()[:16]: "mnist"}
    monkeypatch.setattr("smoothcert.data.idx._OWNERS", known)
    load_dataset("mnist", "test", folder)
    with pytest.raises(DataError, match="is a file of mnist, not of fashion-mnist"):
        load_dataset("fashion-mnist", "test", folder)


def test_images_and_labels_come_from_one_folder(tmp_path):
    write_made_up(tmp_path, "mnist", train=20, test=5)
    folder = next(path for path in tmp_path.rglob("t10k-labels*")).parent
    inner = tmp_path / "mix" / "mnist"
    inner.mkdir(parents=True)
    for path in folder.glob("t10k-*"):
        path.rename((inner if "images" in path.name else inner.parent) / path.name)
    with pytest.raises(DataError, match="t10k"):
        load_dataset("mnist", "test", tmp_path / "mix")
