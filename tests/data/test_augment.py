"""Augmentations: each row is changed by its own numbers, the same however a step is shared."""

import numpy as np
import pytest
import torch

from made_up import write_made_up
from smoothcert.data import AUGMENTATIONS, Dataset, augmented_batch, crop_flip, load_dataset
from smoothcert.data.augment import crop_flip_by
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.seeding import generator_for


def stream():
    return generator_for(1, 2, "augment-test")


def by_hand(image, down, across, mirrored, pad):
    """Shift and mirror one image with slices, as the definition says."""
    padded = np.pad(image.numpy(), ((0, 0), (pad, pad), (pad, pad)))
    part = padded[:, down : down + image.shape[1], across : across + image.shape[2]]
    return torch.from_numpy((part[:, :, ::-1] if mirrored else part).copy())


@pytest.mark.parametrize("pad", [0, 1, 4])
def test_crop_flip_follows_its_definition(pad):
    images = torch.rand(50, 3, 6, 5, generator=stream())
    numbers = torch.rand(50, 3, dtype=torch.float64, generator=stream())
    found = crop_flip_by(images, numbers, pad)
    for row in range(50):
        down, across = (int(numbers[row, axis] * (2 * pad + 1)) for axis in range(2))
        expected = by_hand(images[row], down, across, bool(numbers[row, 2] < 0.5), pad)
        assert torch.equal(found[row], expected)


def test_crop_flip_reaches_every_shift_evenly():
    image = torch.arange(1.0, 26.0).reshape(1, 1, 5, 5)
    found = crop_flip(image.expand(8100, -1, -1, -1), stream())
    kinds, counts = torch.unique(found, dim=0, return_counts=True)
    assert len(kinds) == 9 * 9 * 2  # shifts by -4..4 both ways, mirrored or not, are all different
    assert counts.max() < 100  # 50 expected
    assert counts.min() > 20


def test_draws_depend_on_the_generator_alone():
    images = torch.rand(4, 1, 5, 5, generator=stream())
    assert torch.equal(crop_flip(images, stream()), crop_flip(images, stream()))
    first, second = stream(), stream()
    crop_flip(images, first)
    crop_flip(torch.zeros(4, 3, 9, 9), second)
    assert torch.equal(torch.rand(3, generator=first), torch.rand(3, generator=second))


@pytest.mark.parametrize("name", AUGMENTATIONS)
def test_processes_that_share_a_step_see_the_rows_of_one(name, tmp_path):
    write_made_up(tmp_path, "folder")
    dataset, indices = load_dataset("folder", "train", tmp_path), np.array([5, 0, 30, 7, 7])
    whole = augmented_batch(dataset, indices, name, stream())
    assert whole.dtype == torch.float32
    assert 0 <= whole.min() < whole.max() <= 1
    assert torch.equal(whole[3], whole[4]) == (name == "none")  # one image twice is varied twice
    parts = [
        augmented_batch(dataset, indices[:2], name, stream(), first=0, total=5),
        augmented_batch(dataset, indices[2:], name, stream(), first=2, total=5),
    ]
    assert torch.equal(torch.cat(parts), whole)


def test_none_is_the_batch_itself():
    dataset = load_dataset("digits")
    assert torch.equal(augmented_batch(dataset, [3, 1], "none", stream()), dataset.batch([3, 1]))


def test_what_does_not_fit_is_refused():
    digits, vectors = load_dataset("digits"), Dataset.from_arrays(np.zeros((3, 4), np.uint8), [0, 1, 0])
    for dataset, name, options, message in (
        (digits, "resized-crop-flip", {}, "digits is kept as arrays; choose crop-flip"),
        (vectors, "crop-flip", {}, r"got shape \(2, 4\); choose augmentation none"),
        (digits, "none", {"first": 1, "total": 2}, "rows 1..2 do not lie within a step of 2 rows"),
        (digits, "none", {"first": -1, "total": 4}, "do not lie within"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            augmented_batch(dataset, [0, 1], name, stream(), **options)
    with pytest.raises(InvalidArgumentError, match="pad must be at least 0 pixels, got -1"):
        crop_flip(torch.zeros(2, 1, 4, 4), stream(), pad=-1)
    with pytest.raises(UnknownNameError, match="known: crop-flip, none, resized-crop-flip"):
        augmented_batch(digits, [0], "mixup", stream())
