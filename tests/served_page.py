"""What tests do on the page of a service."""

import io
import json

import numpy as np
from PIL import Image

EVIL = "<img src=x onerror=\"document.title='broken'\"><b>bold</b> & $x$"


def certify(page, votes=1_500):
    """Certify, ask for few votes, and wait for the end."""
    page.locator("summary").click()
    page.fill("#votes-most", str(votes))
    page.click("#certify")
    page.wait_for_selector("#download:enabled")


def download(page, press):
    with page.expect_download() as begun:
        press()
    told = json.loads(begun.value.path().read_text())
    assert begun.value.suggested_filename == f"certificate-{told['certificate']}.json"
    return told


def pixels(page, selector):
    """Return what a canvas shows, grey, as (height, width)."""
    read = """canvas => {
      const { width, height } = canvas, copy = new OffscreenCanvas(width, height).getContext("2d");
      copy.drawImage(canvas, 0, 0);
      return [width, ...copy.getImageData(0, 0, width, height).data];
    }"""
    width, *values = page.locator(selector).first.evaluate(read)
    return np.array(values, dtype=np.uint8).reshape(-1, width, 4)[:, :, 0]


def digest(service, image, **fields):
    """Return the digest that the service has of an image of 8 bits; grey ones need no channel."""
    values = (image if image.ndim == 3 else image[None]) / 255
    return service.predict(values.tolist(), n=1, **fields).json()["image"]


def upload(page, name, array):
    content = io.BytesIO()
    Image.fromarray(array).save(content, "PNG")
    page.set_input_files("#file", {"name": name, "mimeType": "image/png", "buffer": content.getvalue()})


def begin_growing(page, service, pace, growing):
    """Begin to certify an image that takes long, wait until a radius is shown; return the certificate's name."""
    upload(page, "growing.png", (np.array(growing[0]) * 255).round().astype(np.uint8))
    page.locator("#image-told", has_text="growing.png").wait_for()
    page.locator("summary").click()
    page.fill("#votes-most", "20000")
    pace.hold(8)
    page.click("#certify")
    page.wait_for_function("() => /radius .* so far/.test(document.querySelector('#answer').textContent)")
    return next(iter(service.service._works))
