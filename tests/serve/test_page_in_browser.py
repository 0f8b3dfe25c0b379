"""The page of the service in a real browser: choose, upload, draw, watch, stop, download, by mouse and by keys."""

import copy
import io
import json
import re
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

from browser import opened
from serving import served
from smoothcert.data import Dataset
from smoothcert.serve import ApiKeys

EVIL = "<img src=x onerror=\"document.title='broken'\"><b>bold</b> & $x$"
KEY = "a-key-that-is-long-enough"


@pytest.fixture(scope="module")
def named(model):
    """The model, its classes called by names with markup."""
    samples, names = model.samples, tuple(f"{EVIL} {name}" for name in model.class_names)
    classifier = copy.copy(model.classifier)
    classifier.class_names = names
    told = Dataset(samples.name, samples.split, samples.images, samples.labels, names)
    return replace(model, classifier=classifier, samples=told)


@pytest.fixture(scope="module")
def service(named, tmp_path_factory):
    with served({"digits": named}, tmp_path_factory.mktemp("page") / "served") as running:
        yield running


@pytest.fixture
def shown(browser, service):
    """The page, just opened; in the end it has said nothing and asked nobody else."""
    with opened(browser, f"{service.url}/") as page:
        yield page
        assert page.told == []
        assert page.asked
        assert all(url.startswith((f"{service.url}/", "blob:")) for url in page.asked), page.asked


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


def digest(service, image):
    """Return the digest that the service has of an image of 8 bits."""
    return service.predict((image[None] / 255).tolist(), n=1).json()["image"]


def test_an_image_of_the_data_set_is_certified_as_it_is(shown, service, digits):
    page = shown.page
    assert (pixels(page, "#canvas") == digits.images[0, 0]).all()
    page.wait_for_selector("#noisy canvas")
    copies = [pixels(page, f"#noisy canvas:nth-child({place})") for place in (1, 2)]
    assert copies[0].shape == (8, 8)
    assert (copies[0] != copies[1]).any()
    certify(page)
    told = download(page, lambda: page.click("#download"))
    kept = service.client.get(f"/v1/certificates/{told['certificate']}").json()
    assert {**told, "repeated": True} == kept
    assert told["status"] == "finished"
    assert told["image"] == digest(service, digits.images[0, 0])
    assert told["sentence"] in page.inner_text("#sentence")
    radius = float(re.search(r"radius ([0-9.]+)", page.inner_text("#answer"))[1])
    assert told["radius"] - 1e-4 < radius <= told["radius"]  # rounded down
    counts = [int(cell.replace(",", "")) for cell in page.locator("#votes td:nth-child(2)").all_inner_texts()]
    assert counts == told["votes"]["estimate"]
    assert page.locator("#chart .radius").count() == 1


def test_names_with_markup_are_text(shown, service):
    page = shown.page
    assert EVIL in page.inner_text("#image-told")
    assert EVIL in page.locator("#votes tbody th").first.inner_text()
    certify(page)
    assert page.inner_text("#answer").startswith(EVIL)
    assert page.locator("main b, main img").count() == 0
    assert page.title() == "smoothcert"
    policy = service.client.get("/").headers["Content-Security-Policy"]
    assert "default-src 'self'" in policy
    assert "unsafe" not in policy


def begin_growing(page, service, pace, growing):
    """Begin to certify an image that takes long, wait until a radius is shown; return the certificate's name."""
    upload(page, "growing.png", (np.array(growing[0]) * 255).round().astype(np.uint8))
    page.locator("#image-told", has_text="growing.png").wait_for()
    pace.hold(8)
    page.click("#certify")
    page.wait_for_function("() => /radius .* so far/.test(document.querySelector('#answer').textContent)")
    return next(iter(service.service._works))


def upload(page, name, array):
    content = io.BytesIO()
    Image.fromarray(array).save(content, "PNG")
    page.set_input_files("#file", {"name": name, "mimeType": "image/png", "buffer": content.getvalue()})


def test_a_stopped_stream_keeps_what_was_shown_and_can_be_continued(shown, service, pace, growing):
    page = shown.page
    name = begin_growing(page, service, pace, growing)
    proven = page.inner_text("#answer")
    page.click("#stop")
    service.wait_until_left(name)
    pace.free()
    page.wait_for_selector("#download:enabled")
    told = download(page, lambda: page.click("#download"))
    assert told["status"] == "stopped"
    assert told["radius"] >= float(re.search(r"radius ([0-9.]+)", proven)[1])
    assert page.inner_text("#certify") == "Continue"
    page.click("#certify")
    page.wait_for_selector("#download:enabled")
    more = download(page, lambda: page.click("#download"))
    assert more["certificate"] == told["certificate"]
    assert more["status"] == "finished"
    assert more["samples"] > told["samples"]


def test_the_target_may_be_changed_while_votes_arrive(shown, service, pace, growing):
    page = shown.page
    page.fill("#target", "3")
    page.locator("summary").click()
    page.fill("#alpha", "0.002")  # another question than that of the other test
    name = begin_growing(page, service, pace, growing)
    assert page.locator("#chart .target-name").text_content() == "target 3"
    page.fill("#target", "0.001")
    service.wait_until_left(name)
    pace.free()
    page.wait_for_selector("#download:enabled")
    assert "The target radius 0.001 is proven." in page.inner_text("#sentence")
    assert service.client.get(f"/v1/certificates/{name}").json()["status"] == "stopped"


def test_pictures_are_taken_as_they_are_or_the_page_says_what_it_changed(shown, service):
    page, rng = shown.page, np.random.default_rng(0)
    exact = rng.integers(0, 256, (8, 8), dtype=np.uint8)
    upload(page, EVIL, exact)
    page.wait_for_function("name => document.querySelector('#image-told').textContent === name", arg=EVIL)
    assert (pixels(page, "#canvas") == exact).all()
    certify(page, votes=200)
    told = download(page, lambda: page.click("#download"))
    assert told["image"] == digest(service, exact)
    wide = rng.integers(0, 256, (16, 32, 3), dtype=np.uint8)
    upload(page, "wide.png", wide)
    page.locator("#image-told", has_text="scaled from 32 × 16 and made grey by this page").wait_for()
    bars = pixels(page, "#canvas")
    assert bars.shape == (8, 8)
    assert not bars[:2].any()  # its proportions are kept
    assert bars[2:6].any()
    assert page.inner_text("#answer") == "No votes yet."  # the certificate was about another image
    page.set_input_files("#file", {"name": "t.png", "mimeType": "image/png", "buffer": b"no picture"})
    page.locator("#trouble", has_text="t.png is no picture").wait_for()


def test_what_is_drawn_is_what_is_certified(shown, service):
    page = shown.page
    page.click("#clear")
    assert not pixels(page, "#canvas").any()
    page.locator("#canvas").scroll_into_view_if_needed()
    box = page.locator("#canvas").bounding_box()
    page.mouse.move(box["x"] + 0.56 * box["width"], box["y"] + 0.2 * box["height"])
    page.mouse.down()
    page.mouse.move(box["x"] + 0.56 * box["width"], box["y"] + 0.8 * box["height"], steps=5)
    page.mouse.up()
    drawn = pixels(page, "#canvas")
    assert (drawn[2:6, 4] == 255).all()
    assert not drawn[:, :3].any()
    certify(page, votes=200)
    told = download(page, lambda: page.click("#download"))
    assert told["image"] == digest(service, drawn)
    page.check("input[value=erase]")
    page.mouse.click(box["x"] + 0.56 * box["width"], box["y"] + 0.5 * box["height"])
    assert page.inner_text("#image-told") == "a drawing"
    assert page.locator("#download").is_disabled()


def press_until(page, key, selector, most=60):
    """Press a key until something has the focus."""
    for _ in range(most):
        if page.evaluate("s => document.activeElement.matches(s)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{selector} is not reached by {key}")


def test_all_of_it_can_be_done_by_keys_and_little_is_said(shown, service, pace):
    page = shown.page
    page.evaluate(
        """() => { window.said = []; new MutationObserver(() => said.push(document.querySelector('#said').textContent))
        .observe(document.querySelector('#said'), { childList: true, characterData: true, subtree: true }); }"""
    )
    press_until(page, "Tab", "#samples button:nth-child(5)")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "true"
    press_until(page, "Tab", "#canvas")
    for key in ("ArrowRight", "ArrowDown", " "):
        page.keyboard.press(key)
    assert pixels(page, "#canvas")[1, 1] == 255
    assert page.inner_text("#pen-place") == "row 2, column 2: brightness 255 of 255"
    assert page.inner_text("#image-told").endswith("drawn on")
    press_until(page, "Tab", "#target")
    page.keyboard.type("5")
    pace.hold(12)
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('#answer').textContent.includes('so far')")
    press_until(page, "Tab", "#stop")
    page.keyboard.press("Enter")
    service.wait_until_left(next(iter(service.service._works)))
    pace.free()
    page.wait_for_selector("#download:focus")  # the focus is not lost with the button
    told = download(page, lambda: page.keyboard.press("Enter"))
    said = page.evaluate("said.filter(text => text)")
    assert said[0] == "Votes are being drawn."
    assert told["sentence"] in said[-1]
    assert len(said) <= 3


def test_a_key_is_asked_for_and_kept_nowhere(browser, named, tmp_path):
    with served({"digits": named}, tmp_path / "served", keys=ApiKeys(named=[KEY])) as service:
        with opened(browser, f"{service.url}/") as shown:
            page = shown.page
            assert page.locator("#work").is_hidden()
            assert page.evaluate("document.activeElement.id") == "key"
            for key in ("wrong", KEY):
                page.fill("#key", key)
                page.keyboard.press("Enter")
                if key != KEY:
                    page.locator("#trouble", has_text="valid key").wait_for()
            page.wait_for_selector("#samples button")
            page.wait_for_selector("#noisy canvas")
            certify(page, votes=200)
            assert page.locator("#key-form").is_hidden()
            assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
            assert KEY not in page.content()
            assert KEY not in page.url
            assert all("401" in line for line in shown.told), shown.told  # what the browser says of refusals


CONTRASTS = """() => {
  const parts = colour => colour.match(/[0-9.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const behind = node => { for (; node; node = node.parentElement) {
    const colour = parts(getComputedStyle(node).backgroundColor); if (colour.length < 4 || colour[3] > 0) return colour; } };
  const low = [];
  for (const node of document.querySelectorAll("body *")) {
    const text = [...node.childNodes].some(child => child.nodeType === 3 && child.textContent.trim());
    if (!text || !node.checkVisibility() || node.disabled) continue;
    const style = getComputedStyle(node), own = node instanceof SVGElement ? style.fill : style.color;
    const [a, b] = [light(parts(own)), light(behind(node))];
    if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) low.push(node.outerHTML);
  }
  return low;
}"""


@pytest.mark.parametrize("scheme, back", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 28)")])
def test_text_can_be_read_in_both_schemes_and_on_a_phone(browser, service, scheme, back):
    with opened(browser, f"{service.url}/", width=390, height=844, scheme=scheme) as shown:
        page = shown.page
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == back
        page.fill("#target", "0.5")
        certify(page)
        page.evaluate("document.querySelector('#trouble').hidden = document.querySelector('#key-form').hidden = false")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate(CONTRASTS) == []
        nameless = """() => [...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter(one => !one.labels?.length
            && !one.textContent.trim() && !one.ariaLabel && !one.getAttribute("aria-labelledby")).map(one => one.outerHTML)"""
        assert page.evaluate(nameless) == []
        page.evaluate("document.body.style.color = '#777'")  # a little too little on either paper
        assert page.evaluate(CONTRASTS) != []
        assert shown.told == []
