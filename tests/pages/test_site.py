"""The built site: no link leads nowhere, nothing is asked of other hosts, every name and option is there."""

import inspect
import re
from enum import Enum
from urllib.parse import unquote, urldefrag

import pytest
from docs.command_reference import parameters_of, spelling
from docs.python_reference import place_of

import smoothcert as sc
from built_pages import content_of
from smoothcert.cli.app import COMMANDS

OUTSIDE = re.compile(r"^(https?:)?//")


def pages(site):
    found = sorted(site.rglob("*.html"))
    assert len(found) > 25
    return found


def test_no_link_leads_nowhere(site):
    lost = []
    for page in pages(site):
        if page.name == "404.html":  # its links are those of a site at the root of a host
            continue
        for link in {*content_of(page).links, *content_of(page).loaded}:
            if OUTSIDE.match(link) or link.startswith(("mailto:", "data:", "javascript:")):
                continue
            path, anchor = urldefrag(unquote(link))
            target = (page.parent / path).resolve() if path else page
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file() or (
                anchor and target.suffix == ".html" and anchor not in content_of(target).anchors
            ):
                lost.append(f"{page.name}: {link}")
    assert not lost


def test_nothing_is_loaded_from_other_hosts(site):
    assert not [
        (page.name, url) for page in pages(site) for url in content_of(page).loaded if OUTSIDE.match(url)
    ]
    for style in site.rglob("*.css"):
        urls = re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", style.read_text("utf-8"))
        assert not [url for found in urls for url in found if OUTSIDE.match(url)], style.name


def test_an_anchor_stands_once_on_a_page(site):
    for page in pages(site):
        anchors = [anchor for anchor in content_of(page).anchors if not anchor.startswith("__")]
        assert len(anchors) == len(set(anchors)), (page.name, {a for a in anchors if anchors.count(a) > 1})


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_of_a_command_stands_once(site, name):
    text = content_of(site / "command_line.html").sections[f"smoothcert-{name}"]
    rows = text.split("what it says", 1)[1] if parameters_of(name) else ""
    for param in parameters_of(name):
        shown = spelling(param).replace("`", "")
        assert len(re.findall(rf"(?m)^{re.escape(shown)}$", rows)) == 1, shown


def test_every_command_stands_once(site):
    anchors = content_of(site / "command_line.html").anchors
    assert [anchor for anchor in anchors if anchor.startswith("smoothcert-")] == [
        f"smoothcert-{name}" for name in COMMANDS
    ]


@pytest.mark.parametrize("name", sc.__all__)
def test_every_public_name_has_a_sentence_and_its_arguments(site, name):
    page, thing = content_of(site / "api.html"), getattr(sc, name)
    assert name in page.anchors
    text = " ".join(page.sections[name if inspect.ismodule(thing) else place_of(thing)].split())
    sentence = " ".join((inspect.getdoc(thing) or "").split(".")[0].replace("`", "").split())
    assert len(sentence) > 10
    assert sentence in text
    for argument in [] if inspect.ismodule(thing) else arguments_of(thing):
        assert re.search(rf"\b{argument}\b", text), argument


def arguments_of(thing):
    if inspect.isclass(thing) and issubclass(thing, Enum):
        return []
    return [name for name in inspect.signature(thing).parameters if name not in ("self", "args", "kwargs")]
