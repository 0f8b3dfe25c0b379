"""The examples in docstrings run, and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parent.parent / "src"
# Modules without an example are not imported for this: most of the house has none.
FILES = sorted(path for path in SOURCE.rglob("*.py") if ">>> " in path.read_text())


def test_there_are_examples():
    assert len(FILES) >= 2


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_examples_of_a_module(path):
    module = importlib.import_module(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    examples = [test for test in doctest.DocTestFinder().find(module) if test.examples]
    assert examples, f"{path.name} has >>> outside a docstring"
    report: list[str] = []
    for example in examples:
        doctest.DocTestRunner().run(example, out=report.append)
    assert not report, "".join(report)
