"""A data set of another package: one file, listed, trained on, certified, resumed and audited."""

import pytest

from extension.installing import PACKAGE, VERSION, commands, install, python

GROUP = "smoothcert.data.sets"
STRIPES = '''"""Stripes, across or down: drawn, not read."""

import numpy as np

from smoothcert.data import DataSource, Dataset, Request

SIZES = {"train": 200, "holdout": 20, "test": 40}


def read(request: Request) -> Dataset:
    """Draw one split."""
    draws = np.random.default_rng(sorted(SIZES).index(request.split))
    labels = np.arange(SIZES[request.split]) % 2
    images = draws.integers(0, 60, (len(labels), 1, 8, 8), dtype=np.uint8)
    images[labels == 0, :, ::2] += 150
    images[labels == 1, :, :, ::2] += 150
    return request.of_arrays(images, labels, ("across", "down"))


STRIPES = DataSource("stripes across or down", tuple(SIZES), read, (1, 8, 8), 2, train_size=200)
'''
RECIPE = """
about: noisy stripes
source: ours
base: {dataset: eight-stripes, method: gaussian, epochs: 2, lr: 0.1, batch_size: 32}
networks: {convnet: {}}
rows: {0.25: {}}
"""
WHOSE = """
from smoothcert.data import DATASETS, load_dataset
package = DATASETS.package_of("eight-stripes")
print(package.name, package.version, load_dataset("eight-stripes").name, DATASETS.package_of("digits"))
"""


@pytest.mark.slow
def test_a_data_set_from_outside_is_listed_trained_on_certified_and_audited(tmp_path):
    site, model, run = tmp_path / "site", tmp_path / "model", tmp_path / "run"
    install(site, GROUP, "eight_stripes.py", STRIPES)
    recipe = tmp_path / "stripes.yaml"
    recipe.write_text(RECIPE)
    certify = ("certify", model, "--n", 500, "--seed", 1, "--workers", 1, "--out", run)
    listed, trained, first, more, audited = commands(
        site,
        ("datasets",),
        ("train", recipe, "--epochs", 2, "--seed", 1, "--out", model),
        ("stopped", *certify, "--first", 3),
        (*certify, "--first", 3, "--resume"),
        ("audit", run),
    )
    assert "eight-stripes" in listed[1]
    assert "stripes across or down" in listed[1]
    assert [part[0] for part in (trained, first, more, audited)] == [0, 130, 0, 0], (
        trained,
        first,
        more,
        audited,
    )
    assert python(site, WHOSE).split() == [PACKAGE, VERSION, "eight-stripes", "None"]
    (alone,) = commands(tmp_path, ("certify", model, "--first", 1, "--out", tmp_path / "other"))
    assert alone[0] == 2
    assert "was trained on 'eight-stripes'" in alone[2]


@pytest.mark.parametrize(
    "code, message",
    [
        ("1 / 0\n", "cannot be imported: ZeroDivisionError('division by zero')"),
        ("from smoothcert.data import DataSource\n", "must define one dataset, it defines 0"),
    ],
)
def test_a_broken_one_is_one_sentence_and_hides_no_other(code, message, tmp_path, digit_models):
    install(tmp_path / "site", GROUP, "broken.py", code)
    told, other = commands(
        tmp_path / "site",
        ("certify", digit_models[0], "--dataset", "broken", "--out", tmp_path / "x"),
        ("datasets", "digits"),
    )
    assert (told[0], other[0]) == (2, 0), (told, other)
    assert message in told[2]
    assert told[2].count("\n") == 1
