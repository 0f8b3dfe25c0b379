"""The embedded digits: real images, and a split that never changes."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from smoothcert.data import DATASETS, load_dataset
from smoothcert.errors import InvalidArgumentError, UnknownNameError

SIZES = {"train": 1097, "holdout": 200, "test": 500}
DIGESTS = {
    "train": "205d2d1ec04cf3bb628f5be6e46a2d69e8b44a140a9399c99b6c45a6995a6c21",
    "holdout": "62796dbaeb247477ae7726ba7285e2ea57f39829f391a9ddafcb017922dc052b",
    "test": "8d55621f16d413f8c2aa4277428e57270916ed25ec99dfe704017e9eba0e929e",
}


@pytest.mark.parametrize("split", SIZES)
def test_split_is_the_one_of_the_first_release(split):
    dataset = load_dataset("digits", split)
    assert len(dataset) == SIZES[split]
    assert dataset.digest == DIGESTS[split]
    assert (dataset.name, dataset.split, dataset.input_shape) == ("digits", split, (1, 8, 8))
    assert dataset.class_names == tuple("0123456789")


@pytest.mark.parametrize("split", SIZES)
def test_each_class_has_its_share(split):
    shares = np.bincount(load_digits().target) * SIZES[split] / 1797
    found = np.bincount(load_dataset("digits", split).labels)
    # Largest remainder is within 1 of the share; train is what two such roundings leave.
    assert np.abs(found - shares).max() < (2 if split == "train" else 1)


def test_splits_are_disjoint_and_together_the_whole():
    raw = load_digits()
    pixels = np.rint(raw.data * 255 / 16).astype(np.uint8)
    whole = sorted((x.tobytes(), y) for x, y in zip(pixels, raw.target, strict=True))
    parts = []
    for split in SIZES:
        dataset = load_dataset("digits", split)
        parts += [(x.tobytes(), y) for x, y in zip(dataset.images, dataset.labels, strict=True)]
    assert len(set(whole)) == 1797  # no two images are equal, so equality of lists shows a partition
    assert sorted(parts) == whole


def test_grey_levels_are_rounded_sixteenths():
    found = np.unique(load_dataset("digits", "train").images)
    assert found.tolist() == [int(255 * k / 16 + 0.5) for k in range(17)]


def test_unknown_split_and_unknown_name_list_the_known_ones():
    with pytest.raises(InvalidArgumentError, match="no split 'valid'; known: train, holdout, test"):
        load_dataset("digits", "valid")
    with pytest.raises(UnknownNameError, match=r"unknown dataset 'digit'; known: .*digits"):
        load_dataset("digit")


@pytest.mark.parametrize("name", list(DATASETS))
def test_every_source_tells_what_it_is(name):
    assert DATASETS[name].summary
    assert "test" in DATASETS[name].splits
