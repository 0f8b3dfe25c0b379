"""Axes are moved where the user says so and nowhere else; what looks wrong is refused with the guess and the fix."""

import re

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.data import Dataset
from smoothcert.errors import DataError, InvalidImageError

LABELS = [0, 1, 0]
BYTES = np.random.default_rng(0).integers(0, 256, (3, 6, 7, 3), dtype=np.uint8)  # N, height, width, channels


def made(images, **options):
    return Dataset.from_arrays(images, LABELS, **options)


def test_channels_last_are_moved_when_told():
    found = made(BYTES, layout="NHWC")
    assert found.input_shape == (3, 6, 7)
    for number in range(3):
        for channel in range(3):
            expected = BYTES[number, :, :, channel] / np.float32(255)
            np.testing.assert_array_equal(found.image(number)[channel].numpy(), expected)
    assert found.digest == made(BYTES.transpose(0, 3, 1, 2)).digest
    assert made(torch.from_numpy(BYTES), layout="NHWC").digest == found.digest


def test_grey_images_get_a_channel_when_told_and_stay_as_they_are_else():
    grey = BYTES[..., 0]
    assert made(grey, layout="NHW").input_shape == (1, 6, 7)
    np.testing.assert_array_equal(made(grey, layout="NHW").images[:, 0], grey)
    assert made(grey).input_shape == (6, 7)


@pytest.mark.parametrize(
    "shape", [(3, 7), (3, 6, 7), (3, 1, 8, 8), (3, 3, 32, 32), (3, 3, 4, 4), (3, 2, 8, 3), (3, 2, 2, 2, 2)]
)
def test_no_shape_is_changed_without_a_word(shape):
    assert made(np.zeros(shape, np.uint8)).images.shape == shape


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_what_looks_like_channels_last_is_refused_with_the_fix(channels):
    images = np.zeros((3, 8, 8, channels), np.uint8)
    with pytest.raises(
        DataError, match=r"look like \(N, height, width, channels\).*layout=\"NHWC\".*layout=\"any\""
    ):
        made(images)
    assert made(images, layout="any").input_shape == (8, 8, channels)
    assert made(images, layout="NCHW").input_shape == (8, 8, channels)  # eight channels then


@pytest.mark.parametrize(
    "images, layout, message",
    [
        (BYTES, "NHW", "layout 'NHW' is for arrays of 3 axes, but images have shape (3, 6, 7, 3)"),
        (BYTES[..., 0], "NHWC", "layout 'NHWC' is for arrays of 4 axes"),
        (BYTES[..., 0], "NCHW", "layout 'NCHW' is for arrays of 4 axes"),
        (BYTES, "HWC", "layout must be one of NCHW, NHWC, NHW, any, or None, got 'HWC'"),
        (BYTES, 3, "layout must be one of NCHW, NHWC, NHW, any, or None, got 3"),
    ],
)
def test_layouts_that_do_not_fit(images, layout, message):
    with pytest.raises(DataError, match=re.escape(message)):
        made(images, layout=layout)


RANGES = {
    "bytes as floats": (0.0, 254.0, "look like bytes kept as other numbers: divide by 255"),
    "scaled": (-1.0, 1.0, "look scaled to [-1, 1]: give (x + 1) / 2"),
    "normalised": (-2.1, 2.6, "look normalised already: leave that out"),
    "bright and normalised": (0.1, 2.6, "look normalised already"),
    "resized": (-0.01, 1.004, "clip them to [0, 1]"),
}


@pytest.mark.parametrize("case", RANGES)
def test_floats_that_are_no_pixels_are_refused_with_a_guess(case):
    low, high, guess = RANGES[case]
    images = np.linspace(low, high, 3 * 48).reshape(3, 3, 4, 4)
    with pytest.raises(DataError, match=re.escape(guess)) as refusal:
        made(images)
    assert f"from {low:g} to {high:g}" in str(refusal.value)
    assert "allow_any_range=True" in str(refusal.value)
    assert made(images, allow_any_range=True).input_shape == (3, 4, 4)
    assert made(images.reshape(3, 48)).input_shape == (48,)  # a vector need not be a picture
    classifier = sc.SmoothedClassifier(lambda batch: batch.flatten(1)[:, :2], sc.Gaussian(0.25), 2)
    with pytest.raises(InvalidImageError, match=re.escape(guess)):
        classifier.certify(images.reshape(9, 4, 4))
    with pytest.raises(InvalidImageError, match=re.escape(guess)):
        sc.certify(classifier, made(images, allow_any_range=True))


def test_what_is_not_finite_is_left_to_the_certifier():
    images = np.full((3, 1, 8, 8), 0.5, np.float32)
    images[1, 0, 3, 3] = np.nan
    classifier = sc.SmoothedClassifier(lambda batch: batch.flatten(1)[:, :2], sc.Gaussian(0.25), 2)
    with pytest.raises(InvalidImageError, match="image 1 of custom: the image has NaN"):
        sc.certify(classifier, made(images))


def test_a_data_set_is_printed_on_one_line(digits):
    assert str(digits) == "Dataset(digits, test: 500 images 1x8x8 uint8, 10 classes)"
    assert repr(made(BYTES, layout="NHWC", name="my\nset")) == (
        "Dataset(my\\nset, test: 3 images 3x6x7 uint8, 2 classes)"
    )


def test_arrays_with_channels_last_are_certified_as_the_same_pictures(classifier, digits):
    last = np.ascontiguousarray(digits.images[:5].transpose(0, 2, 3, 1))
    mine = Dataset.from_arrays(last, digits.labels[:5], layout="NHWC", class_names=digits.class_names)
    how = {"procedure": sc.FixedSample(n0=64, n=256), "seed": 2, "workers": 1, "indices": range(5)}
    one, other = sc.certify(classifier, mine, **how), sc.certify(classifier, digits, **how)
    assert one.results.radius.tolist() == other.results.radius.tolist()
    assert one.results.predicted.tolist() == other.results.predicted.tolist()
    assert max(one.results.radius) > 0


def test_grey_images_for_a_network_with_channels_are_refused_with_the_fix():
    network = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.AdaptiveAvgPool2d(1), torch.nn.Flatten())
    classifier = sc.SmoothedClassifier(network.eval(), sc.Gaussian(0.25), 2)
    with pytest.raises(InvalidImageError, match=r"Grey images without a channel .*layout=.NHW"):
        sc.certify(classifier, made(BYTES[..., 0]))
    quick = {"procedure": sc.FixedSample(n0=16, n=64), "seed": 1, "workers": 1}
    assert len(sc.certify(classifier, made(BYTES[..., 0], layout="NHW"), **quick)) == 3


def test_a_scale_of_its_own_is_divided_by_its_white():
    with pytest.raises(DataError, match=r"divide by its white, such as 16"):
        sc.Dataset.from_arrays(np.full((2, 1, 8, 8), 16.0), [0, 1])


@pytest.mark.parametrize("white, doubted", [(1, True), (16, True), (33, False), (255, False)])
def test_bytes_that_reach_little_of_255_are_doubted(white, doubted, caplog):
    sc.Dataset.from_arrays(np.full((2, 1, 8, 8), white, dtype=np.uint8), [0, 1])
    assert (f"give images / {white}" in caplog.text) == doubted
