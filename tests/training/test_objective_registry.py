"""Methods are found by their files: no list of them, no name said twice, nothing imported before it is asked for."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

import smoothcert.training
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.registry import name_of
from smoothcert.training import OBJECTIVES, TrainConfig, train

ROOM = Path(smoothcert.training.__file__).parent
FILES = sorted(ROOM.glob("objectives/[!_]*.py"))
AMBIGUOUS = {"gaussian", "consistency", "stability", "standard"}  # also a law, and parts of losses


def test_a_method_is_a_file_and_has_its_name():
    assert list(OBJECTIVES) == sorted(path.stem.replace("_", "-") for path in FILES)
    assert [name_of(OBJECTIVES[name]) for name in OBJECTIVES] == list(OBJECTIVES)
    assert all(OBJECTIVES.package_of(name) is None for name in OBJECTIVES)
    with pytest.raises(UnknownNameError, match="unknown method 'smooth'; known: advmacer, consistency"):
        TrainConfig(method="smooth")


def test_methods_are_imported_on_first_use():
    code = (
        "import sys, smoothcert\n"
        "from smoothcert.training import OBJECTIVES\n"
        "loaded = lambda: sorted(m for m in sys.modules if m.startswith('smoothcert.training.objectives.'))\n"
        "assert loaded() == [] and 'drt' in OBJECTIVES and loaded() == [], loaded()\n"
        "OBJECTIVES['drt']\n"
        "assert loaded() == ['smoothcert.training.objectives.drt'], loaded()\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_method_needs_no_other_one(path):
    assert "smoothcert.training.objectives" not in path.read_text()


def texts_of(path):
    """All texts of a file but docstrings."""
    tree = ast.parse(path.read_text())
    docs = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


@pytest.mark.parametrize("path", sorted(set(ROOM.rglob("*.py")) - set(FILES)), ids=lambda path: path.stem)
def test_nothing_else_in_the_room_knows_a_method_by_name(path):
    for text in texts_of(path):
        words = set(re.findall(r"[a-z]+(?:-[a-z]+)*", text))
        assert not words & (set(OBJECTIVES) - AMBIGUOUS), text


def test_messages_that_tell_what_to_choose_ask_the_methods(tmp_path):
    with pytest.raises(InvalidArgumentError, match="train with one of consistency, gaussian, macer, stab"):
        TrainConfig(method="smoothadv", noise="discrete", keep=0.8)
    with pytest.raises(InvalidArgumentError, match=r"choose one of drt, drt-smoothadv$"):
        smoothcert.fine_tune({}, [tmp_path / "a", tmp_path / "b"], tmp_path / "out")


def test_packages_are_those_that_are_installed(tmp_path):
    config = TrainConfig(packages={"method": {"gaussian": {"package": "elsewhere", "version": "1.0"}}})
    with pytest.raises(InvalidArgumentError, match=r"packages must be those that are installed, \{\}, got"):
        train(config, tmp_path / "m")
    assert not (tmp_path / "m").exists()
    assert "packages" not in TrainConfig().with_packages().model_dump()
