"""README and docs: commands have the options that they use, Python compiles and uses names that there are."""

import ast
import re
import shlex

import pytest
from docs.command_reference import parameters_of
from docs.site_hook import PAGES

import smoothcert as sc
from following import ROOT, blocks_of
from smoothcert.cli.app import COMMANDS

TEXTS = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])


def command_lines(page):
    """Yield the words of every command of this program that a page shows, comments and prompts taken off."""
    for block in blocks_of(page):
        for line in block.text.replace("\\\n", " ").splitlines():
            found = re.search(r"(?:^|\s)smoothcert (.*)", line)
            if (
                found
                and not line.lstrip().startswith(("#", "runs/", "- pip"))
                and block.language in ("", "bash")
            ):
                words = shlex.split(re.split(r"\s# |\s#$|[|;&<>]", found[1])[0])
                if words and ".." not in words:
                    yield words


def known_options(command):
    return {name for param in parameters_of(command) for name in (*param.opts, *param.secondary_opts)} | {
        "--help"
    }


def test_there_are_many_commands():
    assert sum(1 for page in TEXTS for _ in command_lines(page)) > 100


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_commands_have_the_options_that_pages_use(page):
    for command, *words in command_lines(page):
        assert command in COMMANDS or command.startswith("--"), (page.name, command)
        if command in COMMANDS:
            used = {word.split("=")[0] for word in words if re.match(r"--?[a-z]", word)}
            assert used <= known_options(command), (page.name, command, used - known_options(command))


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: page.stem)
def test_python_uses_names_that_there_are(page):
    for block in blocks_of(page):
        if block.language != "python":
            continue
        for node in ast.walk(ast.parse(block.text)):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "sc":
                assert node.attr in sc.__all__, (page.name, node.attr)


def test_the_readme_is_short():
    words = len(re.sub(r"```.*?```", "", (ROOT / "README.md").read_text(), flags=re.DOTALL).split())
    assert 500 <= words <= 800
    python = next(block for block in blocks_of(ROOT / "README.md") if block.language == "python")
    assert sum(1 for line in python.text.splitlines() if line) <= 10


def test_what_the_readme_shows_its_claims_by_is_there():
    """Each row of the table names a command; files and parts that it names exist."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.findall(r"\| `((?:pytest|python|smoothcert) [^`]*)` \|$", text, re.MULTILINE)
    assert len(shown) >= 8
    for command in shown:
        program, *words = command.split()
        if program == "pytest":
            assert all((ROOT / word).exists() for word in words), command
        elif program == "python":
            assert words[:2] == ["-m", "benchmarks.run"]
            assert (ROOT / "benchmarks" / f"{words[-1]}.py").is_file(), command
        else:
            assert words[0] in COMMANDS, command


def test_every_outcome_is_explained():
    text = (ROOT / "docs" / "troubleshooting.md").read_text(encoding="utf-8")
    assert {one.name for one in sc.Outcome} == set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))


def joined_blocks(text):
    """Yield the lists and tables that follow a paragraph without an empty line: the site shows them as one text."""
    before, in_code = "", False
    for line in text.splitlines():
        in_code ^= line.startswith("```")
        block = re.match(r"- |\* |\d+\. |\|", line)
        goes_on = re.match(r"\s+\S|- |\* |\d+\. |\||#|$", before)
        if block and not goes_on and not in_code:
            yield line
        before = line


@pytest.mark.parametrize("page", [*TEXTS, *(ROOT / one for one in PAGES)], ids=lambda page: page.stem)
def test_lists_and_tables_stand_apart(page):
    assert list(joined_blocks(page.read_text(encoding="utf-8"))) == []


def test_a_list_without_an_empty_line_is_seen():
    assert list(joined_blocks("**Certify**\n- this")) == ["- this"]
    assert list(joined_blocks("word\n\n- this\n  and\n- that\n")) == []
