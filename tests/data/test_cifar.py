"""CIFAR files, python and binary, are read as what they hold; inconsistent ones are named."""

import pickle
import shutil

import numpy as np
import pytest

from made_up import write_made_up
from smoothcert.data import load_dataset
from smoothcert.errors import DataError

ROW = {"cifar10": 3073, "cifar100": 3074}
TEST_FILE = {"cifar10": "cifar-10-batches-py/test_batch", "cifar100": "cifar-100-python/test"}
TEST_BINARY = {"cifar10": "cifar-10-batches-bin/test_batch.bin", "cifar100": "cifar-100-binary/test.bin"}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", ROW)
def test_splits_hold_what_the_files_hold(tmp_path, name, binary):
    made = write_made_up(tmp_path, name, train=103, binary=binary)
    train, holdout, test = (load_dataset(name, split, tmp_path) for split in ("train", "holdout", "test"))
    np.testing.assert_array_equal(np.concatenate([train.images, holdout.images]), made["train"][0])
    np.testing.assert_array_equal(np.concatenate([train.labels, holdout.labels]), made["train"][1])
    np.testing.assert_array_equal(test.images, made["test"][0])
    np.testing.assert_array_equal(test.labels, made["test"][1])
    assert (len(train), len(holdout)) == (93, 10)
    assert test.images.dtype == np.uint8


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("name", ROW)
def test_files_are_found_in_every_place(tmp_path, name, binary):
    write_made_up(tmp_path / "a", name, binary=binary)
    (unpacked,) = (tmp_path / "a").iterdir()
    expected = load_dataset(name, "test", tmp_path / "a").digest
    shutil.copytree(unpacked, tmp_path / "b" / name)
    shutil.copytree(unpacked, tmp_path / "c" / name / unpacked.name)
    for home in (unpacked, tmp_path / "b", tmp_path / "c"):
        assert load_dataset(name, "test", home).digest == expected


def test_class_names_are_the_published_ones():
    from smoothcert.data.sets.cifar100 import _CLASSES

    names = _CLASSES.split()
    assert (len(set(names)), names) == (100, sorted(names))


@pytest.mark.parametrize("name", ROW)
def test_inconsistent_pickles_are_named(tmp_path, name):
    write_made_up(tmp_path, name)
    path = tmp_path / TEST_FILE[name]
    good = {
        key if isinstance(key, str) else key.decode(): v for key, v in pickle.loads(path.read_bytes()).items()
    }
    labels = "labels" if name == "cifar10" else "fine_labels"
    for change, message in (
        ({"data": good["data"][:, 1:]}, r"must be uint8 \(N, 3072\), got uint8 \(10, 3071\)"),
        ({"data": good["data"].astype(np.int16)}, "got int16"),
        ({"data": [[1, 2]]}, "got list"),
        ({"data": good["data"][1:]}, "10 labels for 9 images"),
        ({labels: [*good[labels][1:], 100]}, "has the label 100, but labels lie in 0"),
        ({labels: [*good[labels][1:], -1]}, "has the label -1"),
        ({labels: [*good[labels][1:], "x"]}, "list of integers"),
        ({labels: [*good[labels][1:], [1, 2]]}, "list of integers"),
    ):
        path.write_bytes(pickle.dumps({**good, **change}))
        with pytest.raises(DataError, match=message) as caught:
            load_dataset(name, "test", tmp_path)
        assert str(path) in str(caught.value)
    for key in ("data", labels):
        path.write_bytes(pickle.dumps({other: value for other, value in good.items() if other != key}))
        with pytest.raises(DataError, match=f"has no '{key}'"):
            load_dataset(name, "test", tmp_path)


@pytest.mark.parametrize("name", ROW)
def test_inconsistent_binaries_are_named(tmp_path, name):
    write_made_up(tmp_path, name, binary=True)
    path = tmp_path / TEST_BINARY[name]
    good = path.read_bytes()
    wrong = bytearray(good)
    wrong[2 * ROW[name] + ROW[name] - 3073] = 222
    for content, message in (
        (good[:-1], f"no whole number of {ROW[name]}-byte rows"),
        (b"", "cut short: 0 bytes"),
        (bytes(wrong), "has the label 222"),
    ):
        path.write_bytes(content)
        with pytest.raises(DataError, match=message) as caught:
            load_dataset(name, "test", tmp_path)
        assert str(path) in str(caught.value)


def test_a_missing_batch_is_named(tmp_path):
    write_made_up(tmp_path, "cifar10")
    (tmp_path / "cifar-10-batches-py" / "data_batch_4").unlink()
    with pytest.raises(DataError, match=r"incomplete: there is no \S+data_batch_4; get it from https"):
        load_dataset("cifar10", "train", tmp_path)
    assert len(load_dataset("cifar10", "test", tmp_path)) == 10
