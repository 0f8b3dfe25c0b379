"""Runs are called by the shortest end of their path that tells them apart, or by the name they are given."""

from pathlib import Path

import pytest

from smoothcert.errors import InvalidArgumentError
from smoothcert.report import named_paths


@pytest.mark.parametrize("given, names", [
    (["runs/a", "runs/b"], ["a", "b"]),
    (["x/a", "y/a"], ["x/a", "y/a"]),
    (["x/run/a", "y/run/a", "b"], ["x/run/a", "y/run/a", "b"]),
    (["/deep/down/log.tsv"], ["log.tsv"]),
    (["a", "x/a"], ["a", "x/a"]),
    (["Mine=runs/a", "Yours=runs/a"], ["Mine", "Yours"]),
    (["A=b=c"], ["A"]),
    (["."], ["."]),
])  # fmt: skip
def test_names(given, names):
    assert list(named_paths([Path(text) for text in given])) == names


def test_a_path_that_exists_is_not_taken_apart(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("sigma=0.5").mkdir()
    assert named_paths([Path("sigma=0.5")]) == {"sigma=0.5": Path("sigma=0.5")}
    assert named_paths([Path("x=sigma=0.5")]) == {"x": Path("sigma=0.5")}


@pytest.mark.parametrize("given", [["runs/a", "runs/a"], ["x=runs/a", "x=runs/b"], ["b=runs/a", "runs/b"]])
def test_two_of_one_name_are_refused(given):
    with pytest.raises(InvalidArgumentError, match="NAME=PATH"):
        named_paths([Path(text) for text in given])
