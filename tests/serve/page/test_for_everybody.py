"""The page by keys alone, for screen readers, on a phone, in light and dark."""

import pytest

from browser import opened
from served_page import certify, download, pixels


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


CONTRASTS = """() => {
  const parts = colour => colour.match(/[0-9.]+/g).map(Number);
  const linear = v => v <= 10 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
  const behind = node => {
    const colour = parts(getComputedStyle(node).backgroundColor);
    return colour.length < 4 || colour[3] > 0 ? colour : behind(node.parentElement);
  };
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


NAMELESS = """() => [...document.querySelectorAll("button, input, select, canvas[tabindex]")].filter(
  one => !(one.labels?.length || one.textContent.trim() || one.ariaLabel || one.getAttribute("aria-labelledby")))
  .map(one => one.outerHTML)"""


@pytest.mark.parametrize("scheme, back", [("light", "rgb(255, 255, 255)"), ("dark", "rgb(20, 23, 28)")])
def test_text_can_be_read_in_both_schemes_and_on_a_phone(browser, service, scheme, back):
    with opened(browser, f"{service.url}/", width=390, height=844, scheme=scheme) as shown:
        page = shown.page
        assert page.evaluate("getComputedStyle(document.body).backgroundColor") == back
        page.fill("#target", "0.5")
        certify(page)
        page.evaluate(
            "document.querySelector('#trouble').hidden = document.querySelector('#key-form').hidden = false"
        )
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert page.evaluate(CONTRASTS) == []
        assert page.evaluate(NAMELESS) == []
        page.evaluate("document.body.style.color = '#777'")  # a little too little on either paper
        assert page.evaluate(CONTRASTS) != []
        assert shown.told == []
