"""A data set reads back what was put in, refuses what does not fit, and its digest sees every change."""

import hashlib

import numpy as np
import pytest
import torch

from smoothcert.data import Dataset
from smoothcert.errors import DataError


def test_uint8_is_read_as_unit_interval():
    images = np.arange(256, dtype=np.uint8).reshape(4, 1, 8, 8)
    dataset = Dataset.from_arrays(images, [0, 1, 2, 1])
    assert dataset.image(3).dtype == torch.float32
    np.testing.assert_allclose(dataset.image(3).numpy(), images[3] / 255, rtol=1e-6)
    assert dataset.image(0)[0, 0, 0] == 0
    assert dataset.image(3)[0, 7, 7] == 1
    assert (dataset.input_shape, dataset.num_classes, len(dataset)) == ((1, 8, 8), 3, 4)
    assert dataset.class_names == ("0", "1", "2")


def test_batch_keeps_the_order_asked_for():
    dataset = Dataset.from_arrays(np.arange(6, dtype=np.uint8).reshape(3, 2), [0, 0, 1])
    expected = torch.stack([dataset.image(2), dataset.image(0), dataset.image(2)])
    assert torch.equal(dataset.batch([2, 0, 2]), expected)


def test_float_vectors_are_kept_as_they_are_and_cannot_be_changed_through_the_dataset():
    vectors = np.array([[-3.5, 0.25], [7.0, 1.0]])
    dataset = Dataset.from_arrays(
        vectors, np.array([1, 0], dtype=np.uint8), class_names=["no", "yes", "maybe"]
    )
    assert dataset.image(0).tolist() == [-3.5, 0.25]
    assert dataset.labels.dtype == np.int64
    assert dataset.num_classes == 3
    dataset.image(0).zero_()
    assert dataset.image(0).tolist() == [-3.5, 0.25]
    with pytest.raises(ValueError, match="read-only"):
        dataset.labels[0] = 0


def test_digest_follows_its_definition():
    dataset = Dataset.from_arrays(np.array([[1, 2]], dtype=np.uint8), [1], class_names=["a", "b"])
    content = b'["|u1", [1, 2]]\n\x01\x02["<i8", [1]]\n' + (1).to_bytes(8, "little") + b'["a", "b"]'
    assert dataset.digest == hashlib.sha256(content).hexdigest()


def test_digest_sees_every_part_and_not_the_memory_layout():
    images = np.arange(8, dtype=np.uint8).reshape(2, 4)
    base = Dataset.from_arrays(images, [0, 1])
    changed = images.copy()
    changed[1, 3] += 1
    others = [
        Dataset.from_arrays(changed, [0, 1]),
        Dataset.from_arrays(images, [1, 0]),
        Dataset.from_arrays(images.reshape(2, 2, 2), [0, 1]),
        Dataset.from_arrays(images.astype(np.float32), [0, 1]),
        Dataset.from_arrays(images, [0, 1], class_names=["zero", "one"]),
    ]
    assert len({base.digest, *(other.digest for other in others)}) == 6
    assert Dataset.from_arrays(np.asfortranarray(images), [0, 1], name="x", split="y").digest == base.digest


@pytest.mark.parametrize(
    "images, labels, names, message",
    [
        (np.zeros((3, 2), np.uint8), [0, 1], None, "3 images but 2 labels"),
        (np.zeros((2, 2), np.uint8), [0.0, 1.0], None, "labels must be integers"),
        (np.zeros((2, 2), np.uint8), [0, -1], None, "got -1"),
        (np.zeros((2, 2), np.uint8), [0, 2], ["a", "b"], r"0\.\.1 for 2 classes, got 2"),
        (np.zeros((2, 2), np.uint8), [[0], [1]], None, r"shape \(2, 1\)"),
        (np.zeros((2, 2), np.int64), [0, 1], None, "got dtype int64"),
        (np.zeros(2, np.uint8), [0, 1], None, "at least one image"),
        (np.zeros((0, 2), np.uint8), np.zeros(0, np.int64), None, "at least one image"),
    ],
)
def test_what_does_not_fit_is_refused(images, labels, names, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(images, labels, class_names=names)
