"""A release says the same everywhere, and its wheel holds all that is needed and nothing else."""

import ast
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CITATION = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
CHANGES = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")

# Where the code behind an extra stands; those that are tools for working on the project have none.
CODE = {"serve": "src", "ray": "src", "parquet": "src", "openvino": "src", "bench": "benchmarks"}
TOOLS = {"dev", "docs"}
# What the rival in `bench` imports and does not declare.
OF_RIVALS = {"packaging", "statsmodels"}
IMPORTED_AS = {"adversarial-robustness-toolbox": "art", "pyarrow": "parquet"}  # pandas imports the latter


def imported(folder):
    """Return the packages that a folder's files import or ask for by name."""
    names = set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                names.add(node.value)
    return {name.split(".")[0] for name in names}


def test_version_and_date_are_the_same_everywhere():
    headings = re.findall(r"^## \[(.+?)\](?: - (\S+))?$", CHANGES, re.MULTILINE)
    assert headings[0] == ("Unreleased", "")
    assert headings[1] == (PROJECT["version"], str(CITATION["date-released"]))
    assert CITATION["version"] == PROJECT["version"]
    assert CITATION["license"] == PROJECT["license"]


def test_changes_are_grouped_as_keep_a_changelog_does():
    for part in CHANGES.split("\n## ")[1:]:
        groups = re.findall(r"^### (.+)$", part, re.MULTILINE)
        known = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
        assert groups == [name for name in known if name in groups]
    for page in set(re.findall(r"\]\((docs/[\w.]+)\)", CHANGES)):
        assert (ROOT / page).is_file(), page


def test_five_papers_are_cited():
    papers = CITATION["references"]
    assert len({paper["title"] for paper in papers}) == 5
    for paper in papers:
        assert paper["year"] >= 2020
        assert all(author["family-names"] and author["given-names"] for author in paper["authors"])


def test_every_extra_has_code_behind_it():
    extras = PROJECT["optional-dependencies"]
    assert set(CODE) <= set(extras) <= set(CODE) | TOOLS
    for extra, folder in CODE.items():
        names = imported(folder)
        for requirement in extras[extra]:
            package = re.match(r"[\w-]+", requirement).group()
            if extra == "bench" and package in OF_RIVALS:
                continue
            assert IMPORTED_AS.get(package, package.replace("-", "_")) in names, f"{extra}: {package}"


def test_templates_are_forms_that_ask_for_something():
    forms = [path for path in (ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"]
    assert len(forms) >= 2
    for path in forms:
        form = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert form["name"], path
        assert form["description"], path
        assert any(part.get("validations", {}).get("required") for part in form["body"]), path


def test_hooks_run_what_ci_runs():
    hooks = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    entries = " ; ".join(hook["entry"] for hook in hooks)
    recipe = re.search(r"^test: setup\n((?:\t.+\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    checks = [line.split("/")[-1].removesuffix(" .") for line in recipe.splitlines() if "pytest" not in line]
    assert checks == ["ruff check", "ruff format --check", "mypy"]
    assert all(check in entries for check in [*checks, "make quick"])
    subprocess.run(
        [sys.executable, "-m", "pre_commit", "validate-config", ROOT / ".pre-commit-config.yaml"], check=True
    )


def test_commands_of_contributing_are_those_of_the_makefile():
    told = set(re.findall(r"`make ([\w-]+)", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    known = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {"quick", "test", "bench", "evidence", "release-check"} <= told <= known


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Wheel and source distribution, built without a network from a copy that holds some things too many."""
    tree = tmp_path_factory.mktemp("tree")
    for path in ROOT.iterdir():
        if path.is_file():
            shutil.copy(path, tree)
    for folder in ("src", "docs", "examples"):
        shutil.copytree(
            ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info")
        )
    for stray in ("tests/test_stray.py", "results/stray.json", "evidence/stray.json", "benchmarks/stray.py"):
        (tree / stray).parent.mkdir()
        (tree / stray).write_text("")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    subprocess.run([*pip, "--no-build-isolation", "--no-index", "-w", "dist", "."], cwd=tree, check=True)
    make_sdist = "from setuptools import build_meta; build_meta.build_sdist('dist')"
    subprocess.run(
        [sys.executable, "-c", make_sdist], cwd=tree, check=True, capture_output=True, env={"PATH": ""}
    )
    return tree / "dist"


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_nothing_else(built):
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"smoothcert-{PROJECT['version']}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}
        info = f"smoothcert-{PROJECT['version']}.dist-info"
        metadata = Parser().parsestr(archive.read(f"{info}/METADATA").decode())
    source = {
        path.relative_to(ROOT / "src").as_posix()
        for path in (ROOT / "src" / "smoothcert").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if not name.startswith(info)} == source
    for kind in (
        "py.typed",
        "__init__.pyi",
        "training/recipes/digits-gaussian.yaml",
        "serve/page/index.html",
    ):
        assert f"smoothcert/{kind}" in names
    assert f"{info}/licenses/LICENSE" in names
    assert metadata["Version"] == PROJECT["version"]
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata.get_all("Provides-Extra")) == set(PROJECT["optional-dependencies"])
    assert metadata.get_all("Classifier") == PROJECT["classifiers"]


@pytest.mark.slow
def test_the_source_distribution_has_its_documents_and_no_stray_folder(built):
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    for wanted in (
        "CHANGELOG.md",
        "CITATION.cff",
        "SECURITY.md",
        "CONTRIBUTING.md",
        "constraints.txt",
        "LICENSE",
    ):
        assert wanted in names
    assert {"Containerfile", "docs/serve.md", "examples/live_radius.py", "src/smoothcert/py.typed"} <= names
    assert not {name.split("/")[0] for name in names} & {"tests", "results", "evidence", "benchmarks"}
