"""What MkDocs asks while it builds the site: pages that are made from the code, and files that stand outside docs/.

A page links a file of the repository as it does on the shelf, `../evidence/norms.json`; here the link finds a page,
where there is one, or a copy.
"""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from docs.command_reference import command_reference
from docs.python_reference import python_reference

HOME = Path(__file__).resolve().parents[1]
PAGES = {
    "benchmarks/README.md": "benchmarks.md",
    "results/README.md": "results.md",
    "results/mnist-methods/table.md": "results_mnist_methods.md",
    "results/fashion-mnist-methods/table.md": "results_fashion_mnist_methods.md",
    "results/cifar10-resnet20/table.md": "results_cifar10_resnet20.md",
    "results/adaptive-resnet20/table.md": "results_adaptive_resnet20.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "README.md": "index.md",
}
"""Texts that stand outside docs/ and the pages that they are of."""
COPIES = "repository"
_LINK = re.compile(r"\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")
_MADE = {"command_line.md": command_reference, "api.md": python_reference}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that stand outside docs/, and copies of the files that pages link."""
    for source, page in PAGES.items():
        if files.get_file_from_path(page) is None:
            files.append(File.generated(config, page, content=_adapted(HOME / source)))
    for path in sorted(_linked_files()):
        files.append(File.generated(config, f"{COPIES}/{path}", content=(HOME / path).read_bytes()))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Put in what is made from the code, and turn links to files of the repository."""
    made = _MADE.get(page.file.src_uri)
    return turn_links(markdown if made is None else made(markdown), HOME / "docs")


def turn_links(markdown: str, folder: Path) -> str:
    """Return a text of a folder with its links as a page of the site, which all stand in one folder, has them."""

    def turned(link: re.Match[str]) -> str:
        path = _in_repository(folder, link[1])
        if path is None:
            return link[0]
        place = PAGES.get(path) or (
            path.removeprefix("docs/") if path.startswith("docs/") else f"{COPIES}/{path}"
        )
        return f"]({place}{link[2] or ''})"

    return _LINK.sub(turned, markdown)


def _adapted(source: Path) -> str:
    return turn_links(source.read_text(encoding="utf-8"), source.parent)


def _in_repository(folder: Path, link: str) -> str | None:
    """Return the path of a linked file from the repository's root; None if there is no such file."""
    path = (folder / link).resolve()
    return str(path.relative_to(HOME)) if path.is_file() and path.is_relative_to(HOME) else None


def _linked_files() -> set[str]:
    """Return the files outside docs/ that texts link, and that are no pages."""
    texts = [*sorted((HOME / "docs").glob("*.md")), *(HOME / source for source in PAGES)]
    linked = {
        path
        for text in texts
        for link in _LINK.finditer(text.read_text(encoding="utf-8"))
        if (path := _in_repository(text.parent, link[1])) is not None
    }
    return {path for path in linked if path not in PAGES and not path.startswith("docs/")}
