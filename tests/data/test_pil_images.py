"""Images of Pillow come with their channels first, or not at all."""

import numpy as np
import pytest
from PIL import Image

import smoothcert as sc
from smoothcert.data import Dataset
from smoothcert.errors import DataError, InvalidImageError

PIXELS = np.random.default_rng(1).integers(0, 256, (4, 6, 9, 3), dtype=np.uint8)
COLOURS = [Image.fromarray(pixels) for pixels in PIXELS]
GREY = [Image.fromarray(pixels[..., 0]) for pixels in PIXELS]


def test_a_list_of_them_is_a_data_set():
    found = Dataset.from_arrays(COLOURS, [0, 1, 2, 0])
    assert (found.input_shape, found.images.dtype) == ((3, 6, 9), np.uint8)
    assert found.digest == Dataset.from_arrays(PIXELS, [0, 1, 2, 0], layout="NHWC").digest
    grey = Dataset.from_arrays(GREY, [0, 1, 2, 0])
    assert grey.digest == Dataset.from_arrays(PIXELS[..., 0], [0, 1, 2, 0], layout="NHW").digest


@pytest.mark.parametrize(
    "images, message",
    [
        (
            [*COLOURS[:3], COLOURS[3].resize((5, 6))],
            "image 0 is 9x6 RGB and image 3 5x6 RGB; resize or convert",
        ),
        ([*COLOURS[:2], GREY[2], COLOURS[3]], "image 0 is 9x6 RGB and image 2 9x6 L"),
        (
            [image.convert("RGBA") for image in COLOURS],
            r"mode L or RGB, got 'RGBA'; convert it with image\.convert",
        ),
        ([image.convert("P") for image in COLOURS], "mode L or RGB, got 'P'"),
        ([*COLOURS[:3], PIXELS[3]], "image 0 is one of Pillow, but image 3 is ndarray"),
    ],
)
def test_what_is_not_one_array_is_refused_by_its_place(images, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_arrays(images, [0, 1, 2, 0])


def test_one_of_them_is_certified_as_the_same_pixels():
    """By a model that looks at one corner of one channel, which another order of axes would move."""
    classifier = sc.SmoothedClassifier(lambda batch: batch[:, 1:3, 0, 8], sc.Gaussian(0.25), 2)
    quick = {"procedure": sc.FixedSample(n0=64, n=500), "seed": 4, "workers": 1}
    one, other = (classifier.certify(image, **quick) for image in (COLOURS[0], PIXELS[0].transpose(2, 0, 1)))
    assert (one.counts, one.radius) == (other.counts, other.radius)
    assert classifier.predict(COLOURS[0], seed=4) == classifier.predict(PIXELS[0].transpose(2, 0, 1), seed=4)
    with pytest.raises(
        InvalidImageError, match=r"looks like \(height, width, channels\).*input_shape=\(6, 9, 3\)"
    ):
        classifier.certify(PIXELS[0], **quick)
    with pytest.raises(InvalidImageError, match="got 'CMYK'"):
        classifier.certify(COLOURS[0].convert("CMYK"), **quick)


def test_a_model_that_takes_channels_last_says_so():
    classifier = sc.SmoothedClassifier(
        lambda batch: batch[:, 0, 8, 1:3], sc.Gaussian(0.25), 2, input_shape=(6, 9, 3)
    )
    quick = {"procedure": sc.FixedSample(n0=64, n=500), "seed": 4, "workers": 1}
    alone = classifier.certify(PIXELS[0], **quick)
    run = sc.certify(
        classifier, Dataset.from_arrays(PIXELS, [0, 1, 0, 0], layout="any"), indices=[0], **quick
    )
    assert alone.radius == run.results.radius[0]
    with pytest.raises(InvalidImageError, match=r"the model takes \(6, 9, 3\)"):
        classifier.certify(COLOURS[0], **quick)


@pytest.mark.parametrize(
    "image, fix", [(np.zeros((8, 8), np.uint8), r"image\[None\]"), (np.zeros((8, 8, 1), np.uint8), "NHWC")]
)
def test_a_known_shape_says_how_to_get_there(classifier, image, fix):
    with pytest.raises(InvalidImageError, match=rf"but the model takes \(1, 8, 8\).*{fix}"):
        classifier.certify(image)
