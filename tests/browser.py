"""A real browser for tests of pages: Debian's Chromium, driven by Playwright; without one the tests are skipped."""

import shutil
from contextlib import contextmanager

import pytest

_NAMES = ("chromium", "chromium-browser", "google-chrome")


def found_browser():
    """Return the path of a browser; skip the test, saying why, where there is none."""
    pytest.importorskip("playwright", reason="Playwright is not installed")
    path = next(filter(None, map(shutil.which, _NAMES)), None)
    if path is None:
        pytest.skip("no Chromium is installed; Debian has one: apt-get install chromium")
    return path


class Page:
    """A page in a browser that keeps what it said and asked for.

    `told` holds lines of the console and errors, `asked` every request but for the page itself.
    """

    def __init__(self, page, url):
        self.told, self.asked = [], []
        page.on("console", lambda message: self.told.append(message.text))
        page.on("pageerror", lambda error: self.told.append(str(error)))
        page.on("request", lambda request: self.asked.append(request.url))
        self.page, self.url = page, url

    def open(self):
        self.page.goto(self.url)
        self.page.wait_for_selector("html[data-ready]", timeout=60_000)
        self.asked = [url for url in self.asked if url != self.url and not url.startswith(("data:", "blob:"))]
        return self.page

    def scroll_to(self, selector):
        """Bring something into view, and wait until what is drawn there has been drawn."""
        self.page.locator(selector).first.scroll_into_view_if_needed()
        self.page.wait_for_function(
            "s => !document.querySelector(s).classList.contains('plot') || document.querySelector(s + ' .main-svg')",
            arg=selector,
        )


@contextmanager
def started():
    """Start a browser; one at a time, because Playwright keeps one loop for a process."""
    path = found_browser()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        # Without a sandbox: containers have no user to run one, and the page is our own.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser, place, *, width=1280, height=900, scheme="light"):
    """Open a file or an address in a window of the given size (pixels) and colour scheme; yield the `Page`."""
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        page = Page(context.new_page(), place if isinstance(place, str) else place.resolve().as_uri())
        page.open()
        yield page
    finally:
        context.close()
