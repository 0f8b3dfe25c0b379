"""Every registered data set, from made-up files in its own format, obeys the same laws."""

import numpy as np
import pytest
import torch

from made_up import FORMATS, write_made_up
from smoothcert.data import AUGMENTATIONS, DATASETS, augmented_batch, load_dataset
from smoothcert.data.splits import holdout_size, keyed_fraction, training_part
from smoothcert.errors import DataError
from smoothcert.seeding import generator_for


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A folder with every data set; the array formats in a folder of their name, as a user would keep them."""
    folder = tmp_path_factory.mktemp("data")
    for name in FORMATS:
        write_made_up(folder / name, name)
    return folder


def test_every_source_but_the_embedded_one_has_a_made_up_format():
    assert sorted(FORMATS) == [name for name in DATASETS if name != "digits"]


@pytest.mark.parametrize("name", FORMATS)
def test_source_tells_the_truth_about_its_images(name, home):
    source = DATASETS[name]
    assert source.splits[:3] == ("train", "holdout", "test")
    assert len(source.mean) == len(source.std)
    shape = (3, 6, 7) if source.input_shape is None else source.input_shape
    assert len(source.mean) in (1, shape[0])
    sets = {split: load_dataset(name, split, home / name) for split in source.splits[:3]}
    assert {split: len(found) for split, found in sets.items()} == {"train": 36, "holdout": 4, "test": 10}
    for split, found in sets.items():
        # A file of the user's own is known by its own name.
        title = "made-up.npz" if name == "npz" else name
        assert (found.name, found.split, found.input_shape) == (title, split, shape)
        assert found.image(1).shape == shape
        assert torch.equal(found.batch([2, 0])[1], found.image(0))
        assert 0 <= found.image(0).min() < found.image(0).max() <= 1
        if name not in ("imagenet", "folder", "npz"):  # whose classes are those that are there
            assert found.num_classes == source.num_classes
    digests = {found.digest for found in sets.values()}
    assert len(digests) == 3
    assert load_dataset(name, "train", home / name).digest in digests


@pytest.mark.parametrize("name", [name for name in FORMATS if name not in ("folder", "npz")])
def test_a_folder_of_the_data_sets_name_is_found(name, home):
    assert load_dataset(name, "test", home).digest == load_dataset(name, "test", home / name).digest


@pytest.mark.parametrize("name", DATASETS)
def test_usual_augmentation_works(name, home):
    dataset = load_dataset(name, "train", home / name)
    usual = DATASETS[name].augmentation
    assert usual in AUGMENTATIONS
    images = augmented_batch(dataset, [3, 1], usual, generator_for(0, 0, "test"))
    assert (images.shape, images.dtype) == ((2, *dataset.input_shape), torch.float32)
    assert torch.equal(images, dataset.batch([3, 1])) == (usual == "none")


@pytest.mark.parametrize("name", FORMATS)
def test_missing_files_are_named(name, tmp_path):
    with pytest.raises(DataError, match=f"{name}.*data_dir"):
        load_dataset(name)
    with pytest.raises(DataError, match="nowhere is no folder"):
        load_dataset(name, data_dir=tmp_path / "nowhere")
    with pytest.raises(DataError, match=str(tmp_path)) as caught:
        load_dataset(name, "train", tmp_path)
    assert name in ("folder", "npz") or "http" in str(caught.value)


@pytest.mark.parametrize("count, expected", [(2, 1), (9, 1), (40, 4), (50_000, 5_000), (1_281_167, 5_000)])
def test_holdout_is_a_tenth_and_at_most_5000(count, expected):
    assert holdout_size(count) == expected
    places = np.arange(count)
    parts = [places[training_part(split, count)] for split in ("train", "holdout")]
    np.testing.assert_array_equal(np.concatenate(parts), places)
    assert len(parts[1]) == expected


def test_one_training_image_cannot_be_split():
    with pytest.raises(DataError, match="at least 2 training images, got 1"):
        holdout_size(1)


def test_keyed_fraction_never_changes_and_is_even():
    # First 53 bits of SHA-256 of "smoothcert/1|test|a/b.png", over 2^53.
    assert keyed_fraction("a/b.png", "test") == pytest.approx(0.8087198743443397, abs=1e-16)
    found = np.array([keyed_fraction(f"a/{number}.png", "test") for number in range(4000)])
    assert np.abs(np.histogram(found, bins=8, range=(0, 1))[0] - 500).max() < 100
    others = np.array([keyed_fraction(f"a/{number}.png", "holdout") for number in range(4000)])
    assert abs(np.corrcoef(found, others)[0, 1]) < 0.06
