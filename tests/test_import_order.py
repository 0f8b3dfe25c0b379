"""The house rule: data flows one way, so a module imports only from rows above its own."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "smoothcert"
ROWS = [
    {"errors"},
    {"visible"},
    {"registry", "seeding", "atomic", "arguments", "reading", "locking", "progress", "fields", "options"},
    {"bounds"},
    {"data"},
    {"noise"},
    {"networks"},
    {"ensembles"},
    {"folders"},
    {"engines"},
    {"sampling"},
    {"certificates"},
    {"execution"},
    {"store"},
    {"attacks"},
    {"training"},
    {"theory"},
    {"report"},
    {"workflows"},
    {"serve", "cli"},
]
ROW_OF = {name: row for row, names in enumerate(ROWS) for name in names}
MOST_MODULES = 22
OUTSIDE = {"__init__.py", "__main__.py"}  # the package itself, which hands out names of all rooms
FILES = sorted(path for path in SOURCE.rglob("*.py") if str(path.relative_to(SOURCE)) not in OUTSIDE)


def imported_modules(path):
    """Dotted names below smoothcert that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            modules = [f"{base}.{a.name}" for a in node.names] if base == "smoothcert" else [base]
        else:
            continue
        yield from (m.removeprefix("smoothcert.") for m in modules if m.startswith("smoothcert."))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_only_from_rows_above(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for other in {module.split(".")[0] for module in imported_modules(path)}:
        assert other == room or ROW_OF[other] < ROW_OF[room], f"{room} imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_other_rooms_are_entered_by_their_front_door(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    past = [m for m in imported_modules(path) if m.split(".")[0] != room and "." in m]
    assert not past, f"{room} reaches past the __init__ of {past}"


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_a_folder_has_few_modules(folder):
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES, f"give {folder.name} rooms of its own"


def test_bounds_need_no_torch():
    for path in (SOURCE / "bounds").glob("*.py"):
        assert not re.search(r"^\s*(import|from) torch", path.read_text(), re.MULTILINE), path
