"""The page of the service in a real browser: choose, upload, draw, watch, stop, download."""

import re

import numpy as np

from browser import opened
from served_page import EVIL, begin_growing, certify, digest, download, pixels, upload
from serving import served
from smoothcert.errors import UnsoundModelError
from smoothcert.sampling import Sampler
from smoothcert.serve import ApiKeys

KEY = "a-key-that-is-long-enough"


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
    page.locator("#alpha").evaluate(
        "field => { field.value = 0.002; }"
    )  # another question than the other test's
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


def test_a_model_that_fails_a_check_takes_back_what_was_shown(
    browser, named, tmp_path, pace, growing, monkeypatch
):
    with (
        served({"digits": named}, tmp_path / "served") as service,
        opened(browser, f"{service.url}/") as shown,
    ):
        page = shown.page
        begin_growing(page, service, pace, growing)

        def fail(self, chunks):
            raise UnsoundModelError("it changed its mind")

        monkeypatch.setattr(Sampler, "draw", fail)
        pace.free()
        page.locator("#trouble", has_text="failed a check").wait_for()
        assert page.inner_text("#answer") == "No votes yet."
        assert page.locator("#chart .radius").count() == 0
        assert page.locator("#download").is_disabled()
        assert shown.told == []


def test_a_key_is_asked_for_and_kept_nowhere(browser, named, tmp_path):
    keys = ApiKeys(named=[KEY])
    with (
        served({"digits": named}, tmp_path / "served", keys=keys) as service,
        opened(browser, f"{service.url}/") as shown,
    ):
        page = shown.page
        assert page.locator("#work").is_hidden()
        assert page.evaluate("document.activeElement.id") == "key"
        assert page.locator("#trouble").is_hidden()
        page.fill("#key", "wrong")
        page.keyboard.press("Enter")
        page.locator("#trouble", has_text="does not take this key").wait_for()
        page.fill("#key", KEY)
        page.keyboard.press("Enter")
        page.wait_for_selector("#samples button")
        page.wait_for_selector("#noisy canvas")
        certify(page, votes=200)
        assert page.locator("#key-form").is_hidden()
        assert page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
        assert KEY not in page.content()
        assert KEY not in page.url
        assert all("401" in line for line in shown.told), shown.told  # what the browser says of refusals
