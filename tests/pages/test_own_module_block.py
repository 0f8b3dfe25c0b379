"""The tutorial's training of a user's own module: short, and the same again when it is run a second time."""

import sys

import pytest

import smoothcert as sc
from following import ROOT, blocks_of

FILE, BLOCK = [block for block in blocks_of(ROOT / "docs" / "tutorial_own.md") if block.language == "python"][
    :2
]


@pytest.mark.slow
def test_the_block_is_short_and_runs_twice(tmp_path, monkeypatch, capsys):
    assert len([line for line in BLOCK.text.splitlines() if line]) <= 17
    (tmp_path / FILE.title).write_text(FILE.text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "net", raising=False)
    names = {}
    exec(BLOCK.text, names)
    said = capsys.readouterr().out
    assert (tmp_path / "mine.html").stat().st_size > 10_000
    assert names["run"].certified_accuracy([0.25])[0] > 0.5
    image = names["test"].image(0)
    assert names["again"].predict(image, n=100, seed=0) == names["classifier"].predict(image, n=100, seed=0)
    report = sc.audit("runs/mine", model=names["again"], dataset=names["test"])
    assert not report.findings
    (tmp_path / "mine.html").unlink()
    exec(BLOCK.text, {})  # all of it is there: the same figures, nothing trained or drawn again
    assert capsys.readouterr().out == said
    monkeypatch.delitem(sys.modules, "net")
