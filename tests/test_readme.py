"""The README's training of a user's own module runs as it stands, given the two names that it says the user has."""

import re
from pathlib import Path

import numpy as np
import pytest
from torch import nn

import smoothcert as sc

PAGE = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
BLOCK = re.search(r"### Your own model and data\n\n```python\n(.*?)```", PAGE, re.DOTALL).group(1)


def my_arrays():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 260)
    images = rng.integers(0, 60, (260, 1, 4, 4), dtype=np.uint8)
    images[np.arange(260), 0, labels] = 255
    return images, labels


class MyNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(16, 16), nn.ReLU(), nn.Linear(16, 3))

    def forward(self, batch):
        return self.layers(batch)


@pytest.mark.slow
def test_the_block_is_short_and_runs_twice(tmp_path, monkeypatch, capsys):
    assert len(BLOCK.strip().splitlines()) <= 15
    monkeypatch.chdir(tmp_path)
    names = {"sc": sc, "my_arrays": my_arrays, "MyNet": MyNet}
    exec(BLOCK, names)
    said = capsys.readouterr().out
    assert (tmp_path / "mine.html").stat().st_size > 10_000
    assert names["run"].certified_accuracy([0.25])[0] > 0.5
    image = names["test"].image(0)
    assert names["again"].predict(image, n=100, seed=0) == names["classifier"].predict(image, n=100, seed=0)
    report = sc.audit("runs/mine", model=names["again"], dataset=names["test"])
    assert not report.findings
    (tmp_path / "mine.html").unlink()
    exec(
        BLOCK, {**names, "run": None}
    )  # all of it is there: the same figures, nothing trained or drawn again
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("name", ["my_arrays", "MyNet"])
def test_the_block_says_which_names_are_the_user_s(name):
    assert name in BLOCK
