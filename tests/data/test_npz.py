"""Arrays of the user's own in one file: which are read, what is said about the others, and what is never believed."""

import io
import os
import zipfile

import numpy as np
import pytest

from smoothcert.data import load_dataset
from smoothcert.data.npz import MOST_NPZ_BYTES
from smoothcert.errors import DataError, InvalidArgumentError, UnknownNameError

BYTES = np.random.default_rng(0).integers(0, 256, (30, 3, 6, 7), dtype=np.uint8)
LABELS = np.arange(30) % 4


@pytest.fixture
def save(tmp_path):
    """Write a file and return its path."""

    def write(name="my.npz", **arrays):
        np.savez(tmp_path / name, **arrays)
        return tmp_path / name

    return write


def test_images_and_labels_are_the_test_split(save):
    found = load_dataset(save(images=BYTES, labels=LABELS))
    assert (found.name, found.split, found.class_names) == ("my.npz", "test", ("0", "1", "2", "3"))
    np.testing.assert_array_equal(found.images, BYTES)
    np.testing.assert_array_equal(found.labels, LABELS)
    assert found.data_dir == save(images=BYTES, labels=LABELS)


@pytest.mark.parametrize(
    "how", ["text", "path", "name and file", "name and folder", "source", "compressed", "columns"]
)
def test_every_way_to_name_it_gives_the_same(how, save, tmp_path, monkeypatch):
    path = save(
        images=np.asfortranarray(BYTES) if how == "columns" else BYTES, labels=LABELS.astype(np.uint8)
    )
    if how == "compressed":
        np.savez_compressed(path, images=BYTES, labels=LABELS)
    arguments = {
        "text": (str(path),),
        "path": (path,),
        "name and file": ("my.npz", "test", path),
        "name and folder": ("my.npz", "test", tmp_path),
        "source": ("npz", "test", path),
    }.get(how, (path,))
    found = load_dataset(*arguments)
    assert (found.digest, found.name) == (load_dataset(save(images=BYTES, labels=LABELS)).digest, "my.npz")


def test_classes_and_layout_may_stand_beside_them(save):
    names = np.array(["cat", "dog", "eel", "fox"])
    path = save(images=BYTES.transpose(0, 2, 3, 1), labels=LABELS, class_names=names, layout="NHWC")
    found = load_dataset(path)
    assert found.class_names == tuple(names)
    np.testing.assert_array_equal(found.images, BYTES)


def test_training_images_are_parted_from_test_images(save):
    path = save(train_images=BYTES, train_labels=LABELS, test_images=BYTES[:5], test_labels=LABELS[:5] * 0)
    parts = {split: load_dataset(path, split) for split in ("train", "holdout", "test")}
    assert {split: len(part) for split, part in parts.items()} == {"train": 27, "holdout": 3, "test": 5}
    np.testing.assert_array_equal(parts["holdout"].images, BYTES[27:])
    assert all(part.num_classes == 4 for part in parts.values())  # test alone shows one
    assert len(load_dataset(path, "holdout", holdout=10)) == 10


MISSING = {
    "labels": (
        {"images": BYTES, "y": LABELS},
        "no arrays images and labels; it holds images, y: write it with",
    ),
    "images": ({"x": BYTES, "labels": LABELS}, "no arrays images and labels; it holds x, labels"),
    "half a split": ({"test_images": BYTES, "labels": LABELS}, "no arrays test_images and test_labels"),
}


@pytest.mark.parametrize("case", MISSING)
def test_missing_arrays_are_named_with_those_that_are_there(case, save):
    arrays, message = MISSING[case]
    path = save(**arrays)
    with pytest.raises(DataError, match=message):
        load_dataset(path)


def test_plain_images_are_never_trained_on(save):
    path = save(images=BYTES, labels=LABELS)
    for split in ("train", "holdout"):
        with pytest.raises(DataError, match=f"train_images and train_labels, so it has no {split} split"):
            load_dataset(path, split)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"images": BYTES.transpose(0, 2, 3, 1)}, "my.npz: images of shape .* look like .*NHWC"),
        ({"images": BYTES.astype(float)}, "divide by 255"),
        ({"labels": LABELS[:9]}, "30 images but 9 labels"),
        ({"labels": LABELS + 0.5}, "labels must be integers"),
        ({"class_names": np.arange(4)}, "class_names must be a list of texts, got int64"),
        ({"class_names": np.array(["a", "b"])}, "labels must lie in 0..1"),
        ({"layout": "HWCN"}, "layout must be one of"),
        ({"images": np.array([{}] * 30, dtype=object)}, "array images .* nothing is unpickled"),
        (
            {"labels": np.array([(1, 2)] * 30, dtype=[("a", int), ("b", int)])},
            "array labels .*nothing is unpickled",
        ),
    ],
)
def test_what_does_not_fit_names_the_file(arrays, message, save):
    path = save(**{"images": BYTES, "labels": LABELS, **arrays})
    with pytest.raises(DataError, match=message) as refusal:
        load_dataset(path)
    assert str(path) in str(refusal.value)


def test_a_header_that_asks_for_all_memory_is_not_believed(tmp_path):
    for shape, message in (((2**40,), "is the most"), ((2**28,), "but holds"), ((-1, 8), "is the most")):
        head = io.BytesIO()
        np.lib.format.write_array_header_1_0(head, {"shape": shape, "fortran_order": False, "descr": "|u1"})
        with zipfile.ZipFile(tmp_path / "bomb.npz", "w") as archive:
            archive.writestr("images.npy", head.getvalue() + b"\0" * 64)
            archive.writestr("labels.npy", head.getvalue())
        with pytest.raises(DataError, match=f"array images .*{message}"):
            load_dataset(tmp_path / "bomb.npz")
    assert MOST_NPZ_BYTES > 2**28


def test_what_is_no_such_file(tmp_path):
    os.mkfifo(tmp_path / "pipe.npz")
    (tmp_path / "text.npz").write_text("no archive")
    (tmp_path / "arrays.npy").write_bytes(b"")
    with pytest.raises(DataError, match=r"no folder and no \.npz file"):
        load_dataset(tmp_path / "nowhere.npz")
    with pytest.raises(DataError, match="there is no file"):
        load_dataset(tmp_path / "pipe.npz")
    with pytest.raises(DataError, match=r"no \.npz file, or a damaged one"):
        load_dataset(tmp_path / "text.npz")
    with pytest.raises(
        UnknownNameError, match=r"unknown dataset .*arrays\.npy.* known: .*the path of an \.npz file"
    ):
        load_dataset(tmp_path / "arrays.npy")
    with pytest.raises(InvalidArgumentError, match="are two files; give one"):
        load_dataset("a.npz", data_dir=tmp_path / "text.npz")
    with pytest.raises(DataError, match=r"there are 2 \.npz files in"):
        load_dataset("npz", data_dir=tmp_path)


def test_a_folder_of_class_folders_by_its_path(tmp_path):
    from made_up import write_made_up

    write_made_up(tmp_path / "pets", "folder")
    found = load_dataset(tmp_path / "pets")
    assert found.digest == load_dataset("folder", data_dir=tmp_path / "pets").digest
    assert (found.name, found.data_dir) == ("folder", tmp_path / "pets")
