"""Damaged recipes and configurations of trainings."""

import random

import pytest
import yaml

import smoothcert as sc
from fuzz.file_damage import RAW, VALUES, Trials, damaged_documents, other_things, written

pytestmark = pytest.mark.slow

RECIPE = """
about: a made-up recipe
source: nobody
base: {dataset: digits, method: gaussian, epochs: 20, lr: 0.1, batch_size: 32, settings: {}}
networks: {convnet: {lr: 0.2}}
rows: {0.25: {}, 0.5: {epochs: 3}}
"""


def recipe_texts(rng):
    """Name and text of recipes with one thing wrong each."""
    document = yaml.safe_load(RECIPE)
    document["rows"] = {str(key): value for key, value in document["rows"].items()}
    for damage, wrong in damaged_documents(document, rng):
        yield damage, written(wrong)
    laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
    laughs += "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    merges = "m0: &m0 {x: 1, y: 2}\n"
    merges += "".join(f"m{n}: &m{n} {{<<: [{', '.join([f'*m{n - 1}'] * 10)}]}}\n" for n in range(1, 12))
    yield from {
        "laughs": RECIPE + laughs,
        "laughs inside": RECIPE.replace("settings: {}", "settings: *a11").replace("base:", laughs + "base:"),
        "merges": RECIPE + merges,
        "a circle": RECIPE.replace("settings: {}", "settings: &s {a: *s}"),
        "the circle alone": "&a [*a]",
        "deep": "base: " + "[" * 20_000,
        "deep blocks": "".join(f"{' ' * n}- a:\n" for n in range(300)),
        "many rows": RECIPE.replace("0.5:", " ".join(f"0.{n}: {{}}," for n in range(1, 3_000)) + " 0.5:"),
        "digits": RECIPE.replace("20", "9" * 5_000),
        "hexadecimal": RECIPE.replace("20", "0x" + "f" * 50_000),
        "sixties": RECIPE.replace("20", "59" + ":59" * 20_000),
        "a date": RECIPE.replace("20", "2001-99-99"),
        "a day": RECIPE.replace("20", "2001-09-09"),
        "no date": RECIPE.replace("20", "!!timestamp x"),
        "no truth": RECIPE.replace("20", "!!bool x"),
        "no integer": RECIPE.replace("20", "!!int x"),
        "no number": RECIPE.replace("20", "!!float x"),
        "binary": RECIPE.replace("20", "!!binary x"),
        "a set": RECIPE.replace("20", "!!set {a, b}"),
        "an object": RECIPE.replace("20", "!!python/object/apply:os.getcwd []"),
        "a list as key": RECIPE.replace("lr:", "[1, 2]:"),
        "a number as key": RECIPE.replace("lr:", "1:"),
        "nothing as key": RECIPE.replace("lr:", "null:"),
        "no number as key": RECIPE.replace("0.25", ".nan"),
        "infinity as key": RECIPE.replace("0.25", ".inf"),
        "overflow": RECIPE.replace("20", "1e999"),
        "large": RECIPE + "x: " + "y" * 10**7,
        "many lines": RECIPE + "- a\n" * 10**6,
        "a null character": RECIPE + "\0",
        "bytes of another kind": RECIPE.encode("utf-16").decode("latin-1"),
        "only a name": "x",
        "a list": "[1]",
        "two documents": RECIPE + "---\n" + RECIPE,
    }.items()


def test_recipes(tmp_path):
    rng, trials, path = random.Random(8), Trials(), tmp_path / "mine.yaml"

    def read():
        recipe = sc.load_recipe(str(path))
        recipe.config(epochs=2, lr=0.3)
        recipe.config(method="standard")

    for damage, text in recipe_texts(rng):
        path.write_text(text, encoding="utf-8", errors="surrogatepass")
        trials.drive(damage, read)
    path.write_text(RECIPE)
    read()
    for damage in other_things(path, rng, cuts=20, flips=60):
        trials.drive(damage, read)
    trials.must_be_at_least(250)


def test_configurations():
    """What a card or a state says about its training comes back as keyword arguments."""
    trials = Trials()
    whole = sc.TrainConfig(seed=1).model_dump(mode="json")
    for name in whole:
        for kind, value in VALUES.items():
            if isinstance(value, str) and value.startswith(RAW):
                value = float("nan") if kind == "nan" else 16**6_000
            trials.drive(
                f"{name} {kind}", lambda name=name, value=value: sc.TrainConfig(**{**whole, name: value})
            )
            trials.drive(
                f"{name} {kind} alone", lambda name=name, value=value: sc.TrainConfig(**{name: value})
            )
    trials.must_be_at_least(400)
