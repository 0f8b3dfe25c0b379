"""The files of the page: all there, none with markup made of texts, nothing from elsewhere, each small."""

import re
import tomllib
from fnmatch import fnmatch
from html.parser import HTMLParser
from pathlib import Path

import pytest

import smoothcert.serve

PAGE = Path(smoothcert.serve.__file__).parent / "page"
FILES = sorted(PAGE.iterdir())
MARKUP = re.compile(
    r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|setHTML|\beval\(|new Function"
)
STORED = re.compile(r"localStorage|sessionStorage|indexedDB|cookie", re.IGNORECASE)
NAMESPACE = "http://www.w3.org/2000/svg"


class Tags(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def tags():
    return Tags((PAGE / "index.html").read_text(encoding="utf-8")).tags


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_file_is_small_makes_no_markup_and_names_nothing_outside(file):
    text = file.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    assert MARKUP.search(text) is None
    assert STORED.search(text) is None
    assert "//" not in re.sub(r"(^|\s)//\s.*", "", text.replace(NAMESPACE, ""))  # but comments
    for name in re.findall(r'"/static/([^"]+)"', text):
        assert (PAGE / name).is_file(), name


def test_the_policy_has_nothing_to_refuse(tags):
    for tag, attributes in tags:
        assert tag != "style"
        assert tag != "script" or attributes.get("src")
        assert not [name for name in attributes if name == "style" or name.startswith("on")]


def test_labels_and_descriptions_name_what_is_there(tags):
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    named = " ".join(
        attributes.get(name) or ""
        for _, attributes in tags
        for name in ("for", "aria-labelledby", "aria-describedby")
    )
    assert set(named.split()) <= set(ids)
    used = {name for file in PAGE.glob("*.js") for name in re.findall(r'\$\("([^"]+)"\)', file.read_text())}
    assert used <= set(ids)


def test_all_of_it_is_shipped():
    project = Path(__file__).parents[3] / "pyproject.toml"
    patterns = tomllib.loads(project.read_text())["tool"]["setuptools"]["package-data"]["smoothcert"]
    for file in FILES:
        assert any(fnmatch(f"serve/page/{file.name}", pattern) for pattern in patterns), file
