"""The page with models of colour images and many classes, of no pictures, and with several to choose from."""

import numpy as np
import torch

import smoothcert as sc
from browser import opened
from served_page import certify, digest, download, pixels, upload
from serving import served
from smoothcert.serve.served_model import ServedModel

CLASSES = 20


def brightest_column(batch):
    """Answer which column of the image is the brightest: one logit for each."""
    return batch.flatten(1, -2).sum(1) if batch.dim() > 2 else batch


def made_up(name, shape):
    classifier = sc.SmoothedClassifier(
        brightest_column, sc.Gaussian(0.25), shape[-1], input_shape=shape, on_nan="count"
    )
    example = torch.full(shape, 0.5)
    base = classifier.certification(
        sc.FixedSample(), images=1, alpha=0.001, seed=None, engine="auto", example=example
    )
    return ServedModel(name, classifier, base, 256)


def test_a_model_is_chosen_and_the_page_follows_what_it_takes(browser, tmp_path):
    shapes = {"vectors": (CLASSES,), "colours": (3, 4, CLASSES)}
    models = {name: made_up(name, shape) for name, shape in shapes.items()}
    with (
        served(models, tmp_path / "served") as service,
        opened(browser, f"{service.url}/", width=390) as shown,
    ):
        page = shown.page
        page.locator("#trouble", has_text="takes no pictures").wait_for()
        page.click("#certify")
        page.locator("#trouble", has_text="Choose an image first").wait_for()
        page.locator("footer").scroll_into_view_if_needed()
        assert 0 <= page.locator("#trouble").bounding_box()["y"] < 900  # it stays in view
        page.select_option("#model", "colours")
        page.locator("#image-told", has_text="none yet").wait_for()
        assert page.locator("#trouble").is_hidden()
        assert page.locator("#pen").is_hidden()
        assert page.locator("#samples-room").is_hidden()
        assert page.locator("#canvas").get_attribute("role") == "img"
        image = np.random.default_rng(0).integers(0, 30, (4, CLASSES, 3), dtype=np.uint8)
        image[:, 17, 2] = 250
        upload(page, "blue.png", image)
        page.locator("#image-told", has_text="blue.png").wait_for()
        assert (pixels(page, "#canvas") == image[:, :, 0]).all()
        certify(page, votes=300)
        told = download(page, lambda: page.click("#download"))
        assert told["class"] == 17
        assert told["image"] == digest(service, image.transpose(2, 0, 1), model="colours")
        rows = page.locator("#votes tbody tr")
        assert rows.first.inner_text().startswith("17")  # of many classes those with most votes
        assert rows.count() == 12
        assert rows.last.locator("th").inner_text() == "9 other classes"
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert shown.told == []
