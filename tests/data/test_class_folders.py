"""Folders of pictures: what is a split, a class and a hold-out, and what is refused."""

import hashlib
import json

import numpy as np
import pytest
import torch
from PIL import Image

from made_up import write_made_up
from smoothcert.data import PictureFiles, load_dataset
from smoothcert.data import pictures as pictures_module
from smoothcert.data.picture import decode_picture
from smoothcert.errors import DataError


def names(dataset):
    assert isinstance(dataset.images, PictureFiles)
    return list(dataset.images.names)


def add(path, grey=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (4, 4), (grey, grey, grey)).save(path)


@pytest.fixture
def folder(tmp_path):
    write_made_up(tmp_path, "folder")
    return tmp_path


def test_labels_follow_the_folders_names(folder):
    made = write_made_up(folder, "folder")
    test = load_dataset("folder", "test", folder)
    assert test.class_names == ("n0000", "n0001", "n0002")
    np.testing.assert_array_equal(test.labels, made["test"][1])
    assert all(
        name.startswith(test.class_names[label]) for name, label in zip(names(test), test.labels, strict=True)
    )
    assert torch.equal(
        test.image(3), torch.from_numpy(decode_picture(folder / "test" / names(test)[3])).float() / 255
    )


def test_train_and_holdout_divide_the_training_pictures_whatever_the_test_split(folder):
    train, holdout = load_dataset("folder", "train", folder), load_dataset("folder", "holdout", folder)
    everything = sorted(p.relative_to(folder / "train").as_posix() for p in (folder / "train").rglob("*.png"))
    assert sorted(names(train) + names(holdout)) == everything
    assert (len(train), len(holdout)) == (36, 4)
    assert names(holdout) != everything[-4:]  # of keyed names, not of one class
    (folder / "test").rename(folder / "val")
    assert names(load_dataset("folder", "holdout", folder)) == names(holdout)
    assert len(load_dataset("folder", "test", folder)) == 10
    assert len(load_dataset("imagenet", "test", folder)) == 10


def test_a_folder_without_splits_is_split_by_name_alone(tmp_path):
    for number in range(60):
        add(tmp_path / f"class{number % 2}" / f"{number}.jpg")
    (tmp_path / "class0" / "notes.txt").write_text("no picture")
    (tmp_path / ".cache").mkdir()
    before = {
        split: set(names(load_dataset("folder", split, tmp_path))) for split in ("train", "holdout", "test")
    }
    assert sum(len(part) for part in before.values()) == len(set().union(*before.values())) == 60
    assert 5 <= len(before["test"]) <= 20
    for number in range(60, 100):
        add(tmp_path / f"class{number % 2}" / f"{number}.JPEG")
    after = set(names(load_dataset("folder", "test", tmp_path)))
    assert before["test"] < after
    assert not after & (before["train"] | before["holdout"])


def test_a_class_called_train_is_no_split(tmp_path):
    for number in range(40):
        add(tmp_path / ("train" if number % 2 else "bus") / f"{number}.png")
    assert load_dataset("folder", "train", tmp_path).class_names == ("bus", "train")


def test_wrong_folders_are_named(folder, tmp_path_factory):
    other = tmp_path_factory.mktemp("other")
    with pytest.raises(DataError, match="holds no class folders"):
        load_dataset("folder", "test", other)
    add(other / "a" / "x.png")
    with pytest.raises(DataError, match=r"1 pictures in .* too few to leave any for the test split"):
        load_dataset("folder", "test", other)
    empty = folder / "test" / "n0003"
    empty.mkdir()
    with pytest.raises(DataError, match=r"different class folders \(1 are in one only, e.g. 'n0003'\)"):
        load_dataset("folder", "train", folder)
    (folder / "train" / "n0003").mkdir()
    with pytest.raises(DataError, match=f"class folder {empty} holds no picture"):
        load_dataset("folder", "test", folder)
    (folder / "train").rename(folder / "elsewhere")
    with pytest.raises(DataError, match=r"no folder \S+/train with class folders"):
        load_dataset("folder", "train", folder)


def test_half_of_imagenet_must_have_all_classes(tmp_path):
    write_made_up(tmp_path, "imagenet")
    assert load_dataset("imagenet", "test", tmp_path).num_classes == 3
    (tmp_path / "train").rename(tmp_path / "elsewhere")
    with pytest.raises(DataError, match=r"3 class folders instead of 1000 .*dataset 'folder'"):
        load_dataset("imagenet", "test", tmp_path)
    for number in range(3, 1000):
        (tmp_path / "val" / f"n{number:04d}").mkdir()
        (tmp_path / "val" / f"n{number:04d}" / "x.JPEG").touch()
    assert load_dataset("imagenet", "test", tmp_path).num_classes == 1000


def test_digest_follows_its_definition(tmp_path, monkeypatch):
    monkeypatch.setattr(pictures_module, "_READ_WHOLE", 2)
    files = [tmp_path / "train" / "a" / f"{number}.png" for number in range(3)]
    for number, path in enumerate(files):
        add(path, grey=number)
    lines = [["pictures", 256, 224, 3]]
    for number, path in enumerate(files):
        content = None if number == 1 else hashlib.sha256(path.read_bytes()).hexdigest()
        lines.append([f"a/{number}.png", path.stat().st_size, content])
    found, expected = hashlib.sha256(), "".join(json.dumps(line) + "\n" for line in lines)
    PictureFiles(tmp_path / "train", [f"a/{number}.png" for number in range(3)]).update_digest(found)
    assert found.hexdigest() == hashlib.sha256(expected.encode()).hexdigest()


def test_digest_sees_content_labels_and_lost_files(folder):
    seen = {load_dataset("folder", "test", folder).digest}
    dataset = load_dataset("folder", "test", folder)
    path = folder / "test" / names(dataset)[4]
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))  # the same size
    seen.add(load_dataset("folder", "test", folder).digest)
    path.rename(folder / "test" / "n0000" / "other.png")
    seen.add(load_dataset("folder", "test", folder).digest)
    assert len(seen) == 3
    with pytest.raises(DataError, match=f"cannot read the picture {path}"):
        _ = dataset.digest
