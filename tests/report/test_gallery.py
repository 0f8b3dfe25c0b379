"""The gallery shows the ends of a run, images of any shape, each with noisy copies, and nothing of another data set."""

import io
import re
from base64 import b64decode

import numpy as np
import pytest
from PIL import Image

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError
from smoothcert.report.extremes import extremes
from smoothcert.report.page.gallery import gallery
from truth import half_space, images_on_a_line


def make_run(dataset, noise=None):
    classifier = sc.SmoothedClassifier(half_space(0.0), noise or sc.Gaussian(0.25), 2)
    procedure = sc.FixedSample(n0=10, n=100)
    return sc.certify(classifier, dataset, procedure=procedure, seed=1, engine="auto", workers=1)


def pictures(text):
    return [
        np.asarray(Image.open(io.BytesIO(b64decode(data))))
        for data in re.findall(r'src="data:image/png;base64,([^"]+)"', text)
    ]


def test_images_are_the_ends_of_the_run():
    dataset = images_on_a_line()
    run = make_run(dataset)
    top, bottom = extremes(run, 8)
    radius, correct = run.results.radius, run.results.correct
    assert radius[top["easiest"]].min() >= radius[bottom["hardest"]].max()
    assert correct[top["easiest"]].all()
    assert correct[bottom["hardest"]].all()
    assert bottom["wrong class"] == [len(dataset) - 1]
    assert all(run.results.predicted[i] < 0 for i in top.get("abstained", []))
    drawn = [place for row in (top, bottom) for places in row.values() for place in places]
    assert len(drawn) == len(set(drawn))


@pytest.mark.parametrize("shape", [(2,), (4, 4), (1, 4, 4), (3, 4, 4), (2, 3, 3), (3, 200, 120)])
@pytest.mark.parametrize("count", [1, 5])
def test_images_of_any_shape_with_noisy_copies(shape, count):
    dataset = images_on_a_line(shape, count)
    run = make_run(dataset)
    text = gallery(run, dataset)
    assert text == gallery(run, dataset)
    shown = pictures(text)
    assert len(shown) == 3 * count
    assert max(max(picture.shape[:2]) for picture in shown) <= 96
    clean, one, other = shown[:3]
    assert not np.array_equal(clean, one)
    assert not np.array_equal(one, other)


def test_the_clean_image_is_shown_as_it_is_and_the_noise_is_that_of_the_run():
    values = np.linspace(0, 1, 64, dtype=np.float32).reshape(1, 1, 8, 8)
    dataset = sc.Dataset.from_arrays(np.repeat(values, 2, axis=0), [0, 1])
    spread = {}
    for sigma in (0.05, 0.25):
        shown = pictures(gallery(make_run(dataset, sc.Gaussian(sigma)), dataset))
        np.testing.assert_array_equal(shown[0], np.round(255 * values[0, 0]))
        middle = slice(3, 5)  # where nothing is clipped at the smaller sigma
        spread[sigma] = (shown[1] / 255 - values[0, 0])[middle].std()
    assert 0.03 < spread[0.05] < 0.08
    assert spread[0.25] > 2 * spread[0.05]


def test_names_are_text():
    evil = '<b onclick="x">"'
    dataset = images_on_a_line((1, 4, 4), 6, (evil, "</figure>"))
    text = gallery(make_run(dataset), dataset)
    assert "<b onclick" not in text
    assert text.count("</figure>") == 6


def test_images_of_another_data_set_are_refused():
    with pytest.raises(InvalidArgumentError, match="digests differ"):
        gallery(make_run(images_on_a_line()), images_on_a_line(count=13))
