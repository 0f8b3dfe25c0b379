"""`smoothcert quantize`: what it says, and that its folder goes through the other commands."""

import pytest


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tmp_path_factory.mktemp("quantised") / "int8"


def test_quantise_certify_audit_and_export(smoothcert, refused, model_folder, made, tmp_path):
    how = ("--images", "40", "--draws", "1", "--seed", "1")
    code, out, _ = smoothcert("quantize", model_folder, "--out", made, *how)
    assert code == 0
    assert "convnet in int8; biases " in out
    assert "of noisy hold-out images (" in out
    assert "is another classifier than" in out
    code, out, _ = smoothcert("describe", made)
    assert code == 0
    assert "precision       int8" in out
    run = tmp_path / "run"
    fast = ("--first", "2", "--n", "300", "--seed", "1", "--workers", "1", "--out", run)
    assert smoothcert("certify", made, *fast)[0] == 0
    code, out, _ = smoothcert("audit", run, "--fraction", "1")
    assert (code, "trust" in out.lower()) == (0, True)
    assert smoothcert("export", run, "-o", tmp_path / "a.tsv")[0] == 0
    again = refused(smoothcert("quantize", model_folder, "--out", made, *how))
    assert "already holds a model" in again


def test_mistakes_are_told_in_a_sentence(smoothcert, refused, model_folder, tmp_path):
    out = ("--out", tmp_path / "out")
    assert "precision must be one of" in refused(
        smoothcert("quantize", model_folder, "--precision", "fp4", *out)
    )
    assert "is not a model folder" in refused(smoothcert("quantize", tmp_path / "nothing", *out))
    assert "mnist" in refused(
        smoothcert("quantize", model_folder, "--dataset", "mnist", "--data-dir", tmp_path, *out)
    )
    assert not (tmp_path / "out").exists()
