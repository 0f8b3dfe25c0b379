"""`reproduce` on the command line."""

import pytest

from smoothcert.training import train
from smoothcert.workflows import table_names
from smoothcert.workflows.reproducing import trainings
from tiny_table import TINY


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    monkeypatch.setattr(
        trainings, "train_in_process", lambda config, out, **options: train(config, out, **options)
    )
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return path


def test_published_and_own_figures_side_by_side(smoothcert, tiny, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = smoothcert("reproduce", tiny, "--only", "gaussian,stability", "--workers", "1")
    assert code == 0, err
    first, second, third, *rest = out.splitlines()
    assert first == "Reproduced: no paper, Table 1: 2 rows (sigma-0.25), budget minutes."
    assert second.startswith("Scaled down: all networks: ")
    assert " of 1 published order of ACR among these rows came out" in third
    lines = [line.split() for line in rest]
    at = next(place for place, line in enumerate(lines) if line[:3] == ["Gaussian", "published", "0.200"])
    assert lines[at + 1][:2] == ["these", "images"]
    assert lines[at + 2][0] == "own"
    assert lines[at + 3][:2] == ["95%", "interval"]
    assert "certifying 12 images" in err
    home = tmp_path / "reproductions" / "tiny-minutes"
    assert f"Page: {home.relative_to(tmp_path) / 'page.html'}" in out
    assert {path.name for path in home.iterdir()} >= {"models", "runs", "table.md", "table.csv", "table.json"}

    code, again, err = smoothcert("reproduce", tiny, "--only", "gaussian,stability", "--workers", "1")
    assert (code, again) == (0, out), err
    assert "training 0 networks, 1 at once; 2 are trained already" in err


def test_without_a_table_all_are_listed(smoothcert):
    code, out, err = smoothcert("reproduce")
    assert code == 0, err
    for name in table_names():
        assert f"\n{name} " in out
    assert "none was measured" in out


def test_an_unknown_table_lists_the_known(smoothcert, refused):
    sentence = refused(smoothcert("reproduce", "mnist"))
    assert "unknown table 'mnist'" in sentence
    assert all(name in sentence for name in table_names())


@pytest.mark.parametrize(
    "options, complaint",
    [
        (("--budget", "days"), "budget must be one of minutes, hours, paper, got 'days'"),
        (("--only", "gaussian,,"), "--only has an empty name"),
        (("--only", "nobody"), "has no row 'nobody'"),
        (("--models", "nowhere"), "--models nowhere is no folder"),
        (("--workers", "0"), "workers"),
        (("--seed", "x"), "seed"),
    ],
)
def test_mistakes_are_told_in_one_sentence(smoothcert, refused, tmp_path, monkeypatch, options, complaint):
    monkeypatch.chdir(tmp_path)
    assert complaint in refused(smoothcert("reproduce", "mnist-methods", *options))
    assert list(tmp_path.iterdir()) == []


def test_missing_data_is_named_by_its_path(smoothcert, refused, tmp_path):
    out = tmp_path / "out"
    sentence = refused(
        smoothcert("reproduce", "mnist-methods", "--data-dir", tmp_path / "data", "--out", out)
    )
    assert str(tmp_path / "data") in sentence
    assert "give the folder of mnist's files (from https://" in sentence
    assert not out.exists()
