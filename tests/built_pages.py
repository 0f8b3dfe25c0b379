"""What a built page holds: anchors, links, what it loads, and its text by heading."""

from functools import cache
from html.parser import HTMLParser

LOADS = {
    ("script", "src"),
    ("img", "src"),
    ("iframe", "src"),
    ("source", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("object", "data"),
    ("embed", "src"),
}


class Content(HTMLParser):
    """The anchors, links and loaded files of a page; `sections` holds texts by the id of the heading before."""

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.loaded, self.sections = [], [], [], {}
        self._heading = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if "id" in given:
            self.anchors.append(given["id"])
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and given.get("rel") not in ("prev", "next", "canonical"):
            self.loaded.append(given["href"])
        self.loaded += [value for name, value in attrs if (tag, name) in LOADS]
        if tag in ("h1", "h2", "h3", "h4") and "id" in given:
            self._heading = given["id"]

    def handle_data(self, data):
        self.sections[self._heading] = self.sections.get(self._heading, "") + data


@cache
def content_of(path):
    """Return the content of a built page, read once."""
    return Content(path.read_text(encoding="utf-8"))
