"""The house rule: composite classifiers speak for themselves, so nobody outside their room asks for their class."""

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "smoothcert"
ROOMS = ("networks", "ensembles")
BASE = "Composite"


def classes_in(room):
    """Names of the classes of a room, each with the names of its bases."""
    for path in (SOURCE / room).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef):
                yield node.name, {base.id for base in node.bases if isinstance(base, ast.Name)}


def composites():
    """Names of all classes below the base of composite classifiers, at any depth."""
    bases = {name: above for room in ROOMS for name, above in classes_in(room)}
    known = {BASE}
    while more := {name for name, above in bases.items() if above & known} - known:
        known |= more
    return known - {BASE}


COMPOSITES = composites()


def names(node):
    return {
        part.id if isinstance(part, ast.Name) else part.attr
        for part in ast.walk(node)
        if isinstance(part, ast.Name | ast.Attribute)
    }


def asks_for_a_class(tree):
    """Yield line and class wherever code tells composite classifiers apart by their class or its name."""
    for node in ast.walk(tree):
        asked = set()
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and len(node.args) == 2:
            asked = names(node.args[1]) if node.func.id in ("isinstance", "issubclass") else set()
        elif isinstance(node, ast.Compare) and any(
            "type" in names(side) for side in (node.left, *node.comparators)
        ):
            asked = names(node) | {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
        elif isinstance(node, ast.MatchClass):
            asked = names(node.cls)
        yield from ((node.lineno, name) for name in sorted(asked & COMPOSITES))


OUTSIDE = sorted(path for path in SOURCE.rglob("*.py") if path.relative_to(SOURCE).parts[0] not in ROOMS)


@pytest.mark.parametrize("path", OUTSIDE, ids=lambda path: str(path.relative_to(SOURCE)))
def test_nobody_outside_asks_a_composite_for_its_class(path):
    found = list(asks_for_a_class(ast.parse(path.read_text())))
    assert not found, f"let the class answer: {found}"


@pytest.mark.parametrize("path", sorted((SOURCE / "networks").rglob("*.py")), ids=lambda path: path.stem)
def test_networks_know_no_ensemble(path):
    own = {name for name, _ in classes_in("networks")}
    assert {name for _, name in asks_for_a_class(ast.parse(path.read_text()))} <= own


def test_all_kinds_have_the_base():
    assert {
        "AdaptiveEnsemble",
        "ConsensusEnsemble",
        "Denoised",
        "EarlyExitEnsemble",
        "MultiHead",
        "OnnxNetwork",
        "Panel",
        "QuantizedNetwork",
        "TrunkedEnsemble",
        "VotingEnsemble",
    } == COMPOSITES


@pytest.mark.parametrize(
    "code",
    [
        "isinstance(model, VotingEnsemble)",
        "isinstance(model, nn.Linear | sc.Panel)",
        "isinstance(model, (MultiHead, Denoised))",
        "issubclass(type(model), Panel)",
        "type(model) is ConsensusEnsemble",
        "type(model).__name__ == 'ConsensusEnsemble'",
        "match model:\n    case Panel():\n        pass",
    ],
)
def test_a_ladder_would_be_seen(code):
    assert list(asks_for_a_class(ast.parse(code)))
