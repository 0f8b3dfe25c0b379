"""The house rule: data flows one way, so a module imports only from rows above its own."""

import ast
import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "smoothcert"
ROWS = [
    {"errors", "registry", "seeding", "atomic", "reading", "locking", "visible", "arguments"},
    {"data"},
    {"noise"},
    {"models"},
    {"ensembles"},
    {"engines"},
    {"sampling"},
    {"bounds"},
    {"certificates"},
    {"execution"},
    {"store"},
    {"attacks"},
    {"training"},
    {"theory"},
    {"report"},
    {"serve", "cli"},
]
ROW_OF = {name: row for row, names in enumerate(ROWS) for name in names}
FILES = sorted(path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or path.stem in ROWS[0])


def imported_rooms(path):
    """Names of the rooms (first part below smoothcert) that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            base = node.module or ""
            modules = [f"{base}.{a.name}" for a in node.names] if base == "smoothcert" else [base]
        else:
            continue
        yield from (m.split(".")[1] for m in modules if m.startswith("smoothcert."))


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_only_from_rows_above(path):
    room = path.relative_to(SOURCE).parts[0].removesuffix(".py")
    for other in imported_rooms(path):
        assert other == room or ROW_OF[other] < ROW_OF[room] or ROW_OF[room] == 0, f"{room} imports {other}"


def test_bounds_need_no_torch():
    for path in (SOURCE / "bounds").glob("*.py"):
        assert not re.search(r"^\s*(import|from) torch", path.read_text(), re.MULTILINE), path
