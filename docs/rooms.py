"""The rooms of the house, row by row, and who imports whom, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src" / "smoothcert"
GROUND_FLOOR = (
    {"errors", "on_demand"},
    {"visible", "amounts"},
    {
        "registry",
        "seeding",
        "atomic",
        "arguments",
        "reading",
        "locking",
        "progress",
        "fields",
        "options",
        "radii",
    }
    | {"rounding"},
)
"""Modules that stand in no room; they have an order among themselves."""
ROOMS = (
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
    {"serve"},
    {"cli"},
)
"""Packages; a module imports only from rows above its own."""
ROWS = (*GROUND_FLOOR, *ROOMS)
_THE_PACKAGE_ITSELF = {"__init__.py", "__main__.py"}  # they hand out names of all rooms


def source_files() -> list[Path]:
    """Return the files that stand in some row."""
    return sorted(
        path for path in SOURCE.rglob("*.py") if str(path.relative_to(SOURCE)) not in _THE_PACKAGE_ITSELF
    )


def room_of(path: Path) -> str:
    """Return the room that a file stands in, or its own name on the ground floor."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> Iterator[str]:
    """Yield dotted names below smoothcert that a file imports, at any depth of its code."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"{path} has a relative import; write the whole name")
            base = node.module or ""
            modules = [f"{base}.{a.name}" for a in node.names] if base == "smoothcert" else [base]
        else:
            continue
        yield from (m.removeprefix("smoothcert.") for m in modules if m.startswith("smoothcert."))


def imports_of_rooms() -> dict[str, set[str]]:
    """Return for each room the other rooms that its files import."""
    imports: dict[str, set[str]] = {}
    for path in source_files():
        others = {module.split(".")[0] for module in imported_modules(path)}
        imports.setdefault(room_of(path), set()).update(others - {room_of(path)})
    return imports
