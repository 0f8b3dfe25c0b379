"""SVHN's .mat files are read as what they hold, the digit 0 as label 0; damaged ones are named."""

import numpy as np
import pytest
from scipy.io import savemat

from made_up import write_made_up
from smoothcert.data import load_dataset
from smoothcert.errors import DataError


def test_splits_hold_what_the_files_hold(tmp_path):
    made = write_made_up(tmp_path, "svhn")
    train, holdout, test = (load_dataset("svhn", split, tmp_path) for split in ("train", "holdout", "test"))
    np.testing.assert_array_equal(np.concatenate([train.images, holdout.images]), made["train"][0])
    np.testing.assert_array_equal(np.concatenate([train.labels, holdout.labels]), made["train"][1])
    np.testing.assert_array_equal(test.images, made["test"][0])
    assert set(test.labels) == set(range(10))


def test_extra_images_are_a_split_of_their_own(tmp_path):
    made = write_made_up(tmp_path, "svhn")
    with pytest.raises(DataError, match=r"no extra_32x32.mat of svhn .*housenumbers"):
        load_dataset("svhn", "extra", tmp_path)
    (tmp_path / "train_32x32.mat").rename(tmp_path / "extra_32x32.mat")
    np.testing.assert_array_equal(load_dataset("svhn", "extra", tmp_path).images, made["train"][0])


GOOD = {"X": np.zeros((32, 32, 3, 4), np.uint8), "y": np.array([[1], [10], [3], [4]])}


@pytest.mark.parametrize(
    "change, message",
    [
        ({"X": GOOD["X"][:31]}, r"must be uint8 \(32, 32, 3, N\), got uint8 \(31, 32, 3, 4\)"),
        ({"X": GOOD["X"].astype(float)}, "got float64"),
        ({"y": GOOD["y"] - 1}, r"must be whole numbers in 1\.\.10"),
        ({"y": GOOD["y"] + 0.5}, r"must be whole numbers in 1\.\.10"),
        ({"y": np.full((4, 1), np.nan)}, r"must be whole numbers in 1\.\.10"),
        ({"y": GOOD["y"][1:]}, "3 labels for 4 images"),
        ({"y": "text"}, r"1\.\.10"),
    ],
)
def test_inconsistent_files_are_named(tmp_path, change, message):
    savemat(tmp_path / "test_32x32.mat", {**GOOD, **change})
    with pytest.raises(DataError, match=message) as caught:
        load_dataset("svhn", "test", tmp_path)
    assert "test_32x32.mat" in str(caught.value)


def test_damaged_files_are_named(tmp_path):
    path = tmp_path / "test_32x32.mat"
    savemat(path, GOOD)
    whole = path.read_bytes()
    savemat(path, {"X": GOOD["X"]})
    with pytest.raises(DataError, match="lacks X or y"):
        load_dataset("svhn", "test", tmp_path)
    for content in (
        whole[:5000],
        whole[:60],
        b"",
        b"MATLAB 7.3 MAT-file" + b" " * 105 + b"\x00\x02IM" + b"x" * 99,
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=r"cannot read .*test_32x32\.mat as a version 5"):
            load_dataset("svhn", "test", tmp_path)
