"""Members are known by their files alone: no other place in the house lists their names."""

import ast
from pathlib import Path

import pytest
from docs.rooms import SOURCE, source_files

from smoothcert.attacks import METHODS
from smoothcert.certificates import PROCEDURES
from smoothcert.data import DATASETS
from smoothcert.engines import ENGINES
from smoothcert.ensembles import EARLY_EXITS, VOTING_RULES
from smoothcert.folders import FAMILIES
from smoothcert.networks import MODELS
from smoothcert.noise import NOISE_LAWS
from smoothcert.training import OBJECTIVES

REGISTRIES = (
    METHODS,
    PROCEDURES,
    DATASETS,
    ENGINES,
    FAMILIES,
    EARLY_EXITS,
    VOTING_RULES,
    MODELS,
    NOISE_LAWS,
    OBJECTIVES,
)
# An auditor's second formulas are written apart from the members on purpose, and a missing one is told.
APART = {Path("workflows/auditing/second_bounds.py"), Path("workflows/auditing/second_radii.py")}
OTHER_WORDS = {Path("training/losses/self_paced.py")}  # weights of images are soft and hard there, not votes


def is_all(node):
    """Return whether a statement says which names of Python a room hands out."""
    return isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__"


def collections_of_texts(code):
    """Yield, for every list, tuple, set and table of a file, its line and the texts that it holds or has as keys."""
    tree = ast.parse(code)
    tree.body = [node for node in tree.body if not is_all(node)]
    for node in ast.walk(tree):
        if isinstance(node, ast.List | ast.Tuple | ast.Set | ast.Dict):
            parts = node.keys if isinstance(node, ast.Dict) else node.elts
            yield (
                node.lineno,
                [p.value for p in parts if isinstance(p, ast.Constant) and isinstance(p.value, str)],
            )


def listings(code):
    """Return the lines at which a file lists two names of one registry or more."""
    return [
        (line, texts, registry.kind)
        for line, texts in collections_of_texts(code)
        for registry in REGISTRIES
        if len(set(texts) & set(registry)) >= 2
    ]


@pytest.mark.parametrize("path", source_files(), ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_lists_members(path):
    if path.relative_to(SOURCE) not in APART | OTHER_WORDS:
        assert not listings(path.read_text())


@pytest.mark.parametrize(
    "code", ['KNOWN = ("gaussian", "uniform")', 'TABLE = {"fixed": 1, "staged": 2}', 'x in ["onnx", "torch"]']
)
def test_a_list_of_members_is_noticed(code):
    assert listings(code)
