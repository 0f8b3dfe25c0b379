"""The public names: what the docs list, what calls return, and the example that shows them."""

import contextlib
import importlib
import inspect
import io
import re
from pathlib import Path

import smoothcert as sc

PAGE = (Path(__file__).parents[1] / "docs" / "api.md").read_text(encoding="utf-8")
ROOMS = ("certificates", "data", "engines", "ensembles", "folders", "networks", "noise", "sampling", "store")
ROOMS += ("training", "workflows")


def test_the_docs_list_every_name_once():
    listed = [
        name for line in PAGE.splitlines() if line.startswith("| ") for name in re.findall(r"`(\w+)`", line)
    ]
    assert sorted(listed) == sorted(sc.__all__)
    assert all(hasattr(sc, name) for name in listed)


def test_what_comes_back_from_a_public_call_has_a_public_name():
    types = {
        name
        for room in ROOMS
        for name in importlib.import_module(f"smoothcert.{room}").__all__
        if inspect.isclass(getattr(importlib.import_module(f"smoothcert.{room}"), name))
    }
    returned = set()
    for name in sc.__all__:
        thing = getattr(sc, name)
        if inspect.isfunction(thing):
            returned |= set(re.findall(r"\w+", str(inspect.signature(thing).return_annotation))) & types
    assert {"Run", "ModelCard", "AuditReport", "AttackResults"} <= returned
    assert returned <= set(sc.__all__)


def test_the_example_prints_what_it_says():
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/api.md", "exec"), {})
    assert printed.getvalue().strip() == example.rsplit("# ", 1)[1].strip()
