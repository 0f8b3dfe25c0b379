"""What a user may hand in as images and labels, and what is said about the rest."""

import numpy as np
import pytest
import torch

from smoothcert.data import MOST_CLASSES, Dataset
from smoothcert.errors import DataError

PIXELS, LABELS = np.zeros((3, 4), np.float32), np.array([0, 1, 0])


def test_arrays_tensors_and_lists_are_one_data_set():
    digests = {
        Dataset.from_arrays(images, labels).digest
        for images in (PIXELS, torch.zeros(3, 4, requires_grad=True), [[0.0] * 4] * 3, [PIXELS[0]] * 3)
        for labels in (LABELS, torch.tensor(LABELS), [0, 1, 0], (0, 1, 0), LABELS.astype(np.uint8))
    }
    assert len(digests) == 1


@pytest.mark.parametrize(
    "labels, message",
    [
        ([0, 1, 2**63 - 1], "labels must be numbers of classes below 262,144, got 9223372036854775807"),
        (np.array([0, 1, 2**63], np.uint64), "number the classes from 0"),
        ([0, 1, MOST_CLASSES], "below 262,144"),
        ([0, -1, 0], "labels must lie in 0"),
        ([0.0, float("nan"), 1.0], "labels must be integers, got dtype float64"),
        ([0, 1, 10**400], "labels must be integers, got dtype object"),
        ([[0], [1, 2], [3]], "labels must be an array of numbers of one shape"),
        (None, "labels are missing"),
        ({0, 1}, "labels must be an array, a tensor, a list of numbers .*, got set"),
    ],
)
def test_labels_that_are_none(labels, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(PIXELS, labels)


@pytest.mark.parametrize(
    "images, message",
    [
        (torch.utils.data.TensorDataset(torch.zeros(3, 4)), r"got TensorDataset; .* Dataset\.from_torch"),
        (torch.utils.data.DataLoader([1, 2, 3]), r"got DataLoader; .* Dataset\.from_torch"),
        (np.array([object()] * 3), "got dtype object; convert"),
        ([["a"] * 4] * 3, "got dtype <U1"),
        (torch.zeros(3, 4, dtype=torch.bfloat16), "images must be an array of numbers"),
        (np.zeros((0, 4), np.float32), "at least one image"),
        ("abc", "got str"),
    ],
)
def test_images_that_are_none(images, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(images, LABELS)
    with pytest.raises(DataError):
        Dataset.from_arrays(images)


@pytest.mark.parametrize(
    "names, message",
    [
        ("ab", "must be a list of names, got 'ab'"),
        (5, "must be a list of names"),
        ([1, 2], "must be texts of at most 1000 characters, got 1"),
        (["a", "\ud800"], "rename the class"),
        (["a"] * (MOST_CLASSES + 1), "262,145 class_names"),
    ],
)
def test_class_names_that_are_none(names, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(PIXELS, LABELS, class_names=names)
