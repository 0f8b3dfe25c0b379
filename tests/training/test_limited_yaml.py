"""YAML that is small on the disk and large in memory, or that no loader expects."""

import pytest

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError
from smoothcert.training.limited_yaml import parse_yaml


def laughs(levels):
    first = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    return first + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, levels))


def test_aliases_that_stay_small_are_read():
    found = parse_yaml("a: &a {x: 1}\nb: *a\nc: {<<: *a, y: 2}\nd: &n 5\ne: *n", "it")
    assert found == {"a": {"x": 1}, "b": {"x": 1}, "c": {"x": 1, "y": 2}, "d": 5, "e": 5}


@pytest.mark.parametrize(
    "text, message",
    [
        (laughs(12), "more than 5,000 values"),
        ("- x\n" * 6_000, "more than 5,000 values"),
        ("[" * 5_000 + "]" * 5_000, "nested more than 16 deep"),
        ("a: &a [*a]", "the alias 'a' stands for nothing, or for what it is inside of"),
        ("a: &a [&a [*a], *a]", "inside of|found duplicate anchor"),
        ("n: " + "9" * 5_000, "no YAML: .*digits"),
        ("n: 2001-99-99", "no YAML: month must be"),
        ("n: !!bool x", "no YAML"),
        ("n: !!timestamp x", "no YAML"),
        ("n: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
        ("a: [", "no YAML"),
    ],
)
def test_texts_that_are_refused(text, message):
    with pytest.raises(InvalidArgumentError, match=f"it is no YAML: .*{message}|{message}") as caught:
        parse_yaml(text, "it")
    assert len(str(caught.value)) < 500


RECIPE = """
about: a
source: b
base: {dataset: digits, METHOD}
networks: {convnet: {}}
rows: {0.25: {}}
"""


@pytest.mark.parametrize(
    "change, message",
    [
        ("method: [gaussian]", "mine.*method"),
        ("noise: [gaussian]", "mine.*unknown noise"),
        ("noise: {a: 1}", "unknown noise"),
        ("epochs: 0x" + "f" * 6_000, "mine.*epochs.*type int that cannot be written"),
        ("epochs: 1000000000000", "mine.*epochs"),
        ("settings: {1: 2}", "mine.*settings"),
        ("1: 2", "mine.*base.1"),
        ("self: 2", "mine.*unknown training setting 'self'"),
        ("lr: .inf", "mine.*lr"),
    ],
)
def test_recipes_name_file_and_field(tmp_path, change, message):
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE.replace("METHOD", change))
    with pytest.raises(sc.errors.SmoothcertError, match=message):
        sc.load_recipe(str(path))


def test_a_recipe_without_a_method_has_the_default(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(RECIPE.replace("METHOD", "epochs: 2"))
    assert sc.load_recipe(str(path)).config().method == "gaussian"
    assert sc.load_recipe(str(path)).config(method="standard").method == "standard"
