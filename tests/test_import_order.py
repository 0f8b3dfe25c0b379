"""The house rule: data flows one way, so a module imports only from rows above its own."""

import re

import pytest
from docs.rooms import ROWS, SOURCE, imported_modules, room_of, source_files

ROW_OF = {name: row for row, names in enumerate(ROWS) for name in names}
MOST_MODULES = 22
FILES = source_files()


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_imports_only_from_rows_above(path):
    room = room_of(path)
    for other in {module.split(".")[0] for module in imported_modules(path)}:
        assert other == room or ROW_OF[other] < ROW_OF[room], f"{room} imports {other}"


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_other_rooms_are_entered_by_their_front_door(path):
    room = room_of(path)
    past = [m for m in imported_modules(path) if m.split(".")[0] != room and "." in m]
    assert not past, f"{room} reaches past the __init__ of {past}"


@pytest.mark.parametrize("folder", sorted({path.parent for path in FILES}), ids=lambda p: p.name)
def test_a_folder_has_few_modules(folder):
    assert len(list(folder.glob("*.py"))) <= MOST_MODULES, f"give {folder.name} rooms of its own"


def test_bounds_need_no_torch():
    for path in (SOURCE / "bounds").glob("*.py"):
        assert not re.search(r"^\s*(import|from) torch", path.read_text(), re.MULTILINE), path
