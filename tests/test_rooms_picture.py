"""The picture of the rooms in the docs: drawn from the imports as they are, and showing all of them."""

from xml.etree import ElementTree

from docs.draw_rooms import PICTURE, draw_rooms, lines_of_rooms
from docs.rooms import imports_of_rooms

SVG = "{http://www.w3.org/2000/svg}"


def test_the_picture_is_current():
    same = PICTURE.read_text(encoding="utf-8") == draw_rooms()
    assert same, "draw it again: python -m docs.draw_rooms"


def test_a_dot_for_each_import_and_none_right_of_a_step():
    lines = lines_of_rooms()
    picture = ElementTree.fromstring(draw_rooms())
    steps = [step for step in picture.iter(f"{SVG}rect") if "rx" in step.attrib]
    dots = list(picture.iter(f"{SVG}circle"))
    assert len(steps) == len(lines)
    assert len(dots) == sum(len(imported) for _, _, imported in lines)
    for dot in dots:
        (step,) = (s for s in steps if 0 <= float(dot.get("cy")) - float(s.get("y")) < float(s.get("height")))
        assert float(dot.get("cx")) < float(step.get("x"))


def test_imports_are_read_from_the_source():
    imports = imports_of_rooms()
    assert "bounds" in imports["certificates"]
    assert "certificates" not in imports["bounds"]
