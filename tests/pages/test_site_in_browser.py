"""The site in a real browser, at the width of a phone and of a desk, light and dark: quiet, and nothing sticks out."""

import functools
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

PAGES = ("index", "getting_started", "choose_procedure", "command_line", "api")


class Silent(SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def address(site):
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Silent, directory=str(site)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.mark.slow
@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_are_quiet_and_fit(browser, address, width, scheme):
    context = browser.new_context(viewport={"width": width, "height": 844}, color_scheme=scheme)
    page, asked, told = context.new_page(), [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: told.append(message.text))
    page.on("pageerror", lambda error: told.append(str(error)))
    try:
        for name in PAGES:
            page.goto(f"{address}/{name}.html", wait_until="networkidle")
            assert page.evaluate("document.documentElement.scrollWidth") <= width, name
            shown = page.evaluate("document.body.getAttribute('data-md-color-scheme')")
            assert shown == {"light": "default", "dark": "slate"}[scheme]
            broken = page.evaluate("[...document.images].filter(i => !i.naturalWidth).map(i => i.src)")
            assert not broken
    finally:
        context.close()
    assert not told
    assert asked
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]
