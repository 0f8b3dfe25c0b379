"""`smoothcert report`: a page for runs and logs of one's own, and one sentence for what cannot be on one."""

import json
import re
import shutil
import sqlite3

import pytest
from typer.testing import CliRunner

import smoothcert as sc
from smoothcert.cli.app import app, main

LOG = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.5\t1\t0:00:01\n1\t2\t-1\t0.0\t0\t0:00:01\n"


def keep_images(folder, count):
    """Make a run an unfinished one of its first images."""
    with sqlite3.connect(folder / "run.sqlite") as connection:
        for table in ("certificates", "counts", "votes", "seals"):
            connection.execute(f"DELETE FROM {table} WHERE idx >= {count}")


@pytest.fixture(scope="module")
def runs(model_folder, tmp_path_factory):
    """Two runs of one model, a run in l0, an unfinished one and a log, in one folder."""
    home = tmp_path_factory.mktemp("runs")
    classifier, digits = sc.load_classifier(model_folder), sc.load_dataset("digits")
    how = {"procedure": sc.FixedSample(n0=32, n=64), "seed": 1, "workers": 1}
    sc.certify(classifier, digits, indices=range(6), out=home / "a", **how)
    sc.certify(classifier, digits, indices=range(6), out=home / "c", **{**how, "seed": 2})
    in_memory = sc.SmoothedClassifier(classifier.model, sc.Gaussian(0.25), 10)  # whose place nobody knows
    sc.certify(in_memory, digits, indices=range(6), out=home / "b", **how)
    early = {**how, "procedure": sc.Sequential(radius=0.1, max_samples=64)}
    sc.certify(classifier, digits, indices=range(2), out=home / "early", **early)
    zero = sc.SmoothedClassifier(classifier.model, sc.DiscreteReplacement(0.8, levels=256), 10)
    sc.certify(zero, digits, indices=range(2), out=home / "l0", **how)
    (home / "log.tsv").write_text(LOG)
    (home / "empty").mkdir()
    shutil.copytree(home / "a", home / "unbegun")
    keep_images(home / "unbegun", 0)
    return home


def invoke(*words):
    return CliRunner().invoke(app, ["report", *map(str, words)])


def stored(file):
    return json.loads(file.read_text().split('id="data">')[1].split("</script>")[0])


def test_runs_and_logs_on_one_page(runs, tmp_path):
    done = invoke(runs / "log.tsv", runs / "b", f"Mine={runs / 'c'}", "--out", tmp_path / "page.html")
    assert done.exit_code == 0, done.output
    data = stored(tmp_path / "page.html")
    assert [run["name"] for run in data["runs"]] == ["log.tsv", "b", "Mine"]
    assert [gap["run"] for gap in data["gaps"]] == [2]  # the other does not say where its model is
    text = (tmp_path / "page.html").read_text()
    assert "<title>log.tsv, b, Mine</title>" in text
    assert "Some images of Mine" in text
    assert "about different images" in text
    assert "b has no histogram" in done.output


def test_what_is_shown_can_be_chosen(runs, tmp_path):
    page = tmp_path / "new" / "page.html"
    gaps = ["--gap-copies", "100", "--gap-image", "3"]
    done = invoke(
        runs / "c", "--no-images", *gaps, "--title", "A & B", "--against", runs / "a", "--out", page
    )
    assert done.exit_code == 0, done.output
    text = page.read_text()
    assert "<h1>A &amp; B</h1>" in text
    assert "Some images of" not in text
    assert "TimeRF" in text
    (gap,) = stored(page)["gaps"]
    assert (gap["index"], gap["copies"]) == (3, 100)
    assert invoke(runs / "c", "--gap-copies", "0", "--out", page).exit_code == 0
    assert stored(page)["gaps"] == []


def test_a_model_that_was_moved_is_given_by_its_folder(runs, model_folder, tmp_path):
    shutil.copytree(model_folder, tmp_path / "moved")
    done = invoke(
        runs / "a", "--model", tmp_path / "moved", "--gap-copies", "0", "--out", tmp_path / "p.html"
    )
    assert done.exit_code == 0, done.output
    assert "architecture convnet" in (tmp_path / "p.html").read_text()


def test_copies_of_one_model_are_that_model(runs, model_folder, tmp_path):
    copies = [shutil.copytree(model_folder, tmp_path / name) for name in ("one", "other")]
    words = [word for copy in copies for word in ("--model", copy)]
    done = invoke(runs / "a", *words, "--gap-copies", "0", "--out", tmp_path / "p.html")
    assert done.exit_code == 0, done.output
    assert "architecture convnet" in (tmp_path / "p.html").read_text()


def test_a_table_of_costs_without_models_ends_nothing_else(runs, tmp_path):
    done = invoke(runs / "log.tsv", "--costs", "--markdown", tmp_path / "t.md", "--out", tmp_path / "p.html")
    assert done.exit_code == 0, done.output
    assert "no table of costs" in done.output
    assert (tmp_path / "t.md").exists()
    assert (tmp_path / "p.html").exists()


def test_a_model_of_another_run_is_refused(runs, tmp_path, capsys, monkeypatch):
    sc.train({"epochs": 1, "seed": 6, "batch_size": 256}, tmp_path / "other")
    words = ["report", str(runs / "a"), "--model", str(tmp_path / "other"), "--out", str(tmp_path / "p.html")]
    monkeypatch.setattr("sys.argv", ["smoothcert", *words])
    with pytest.raises(SystemExit):
        main()
    assert "model of none of the runs" in capsys.readouterr().err


def test_tables_and_figures_without_a_page(runs, tmp_path):
    words = [
        "--gap-copies",
        "64",
        "--markdown",
        tmp_path / "t.md",
        "--figures",
        tmp_path / "figures",
        "--costs",
    ]
    done = invoke(runs / "a", runs / "c", *words)
    assert done.exit_code == 0, done.output
    assert "| a" in (tmp_path / "t.md").read_text()
    assert (tmp_path / "figures" / "log_probability_gap.pdf").read_bytes().startswith(b"%PDF")
    assert "parameters" in done.output
    assert "Page:" not in done.output


def test_an_attack_is_shown(runs, model_folder, tmp_path):
    words = ["attack", str(model_folder), "--run", str(runs / "c"), "--m", "4", "--n", "64", "--steps", "2",
             "--radii", "0.1", "--out", str(tmp_path / "attack")]  # fmt: skip
    assert CliRunner().invoke(app, words).exit_code == 0
    done = invoke(
        runs / "c", "--attack", tmp_path / "attack", "--gap-copies", "0", "--out", tmp_path / "p.html"
    )
    assert done.exit_code == 0, done.output
    assert stored(tmp_path / "p.html")["attack"]["method"] == "pgd"


def test_radii_of_the_tables_can_be_chosen(runs, tmp_path):
    words = ["--radii", "0.1,0.3,0.1", "--gap-copies", "0", "--no-images", "--csv", tmp_path / "t.csv"]
    done = invoke(runs / "a", *words, "--out", tmp_path / "p.html")
    assert done.exit_code == 0, done.output
    heads = re.findall(r'<th scope="col">r = ([^<]+)</th>', (tmp_path / "p.html").read_text())
    assert heads == ["0.1", "0.3"]
    assert "0.3" in (tmp_path / "t.csv").read_text().splitlines()[0]


def test_an_attack_on_another_run_is_refused(runs, model_folder, tmp_path, capsys, monkeypatch):
    words = ["attack", str(model_folder), "--run", str(runs / "c"), "--m", "4", "--n", "64", "--steps", "1",
             "--radii", "0.1", "--out", str(tmp_path / "attack")]  # fmt: skip
    assert CliRunner().invoke(app, words).exit_code == 0
    classifier, digits = sc.load_classifier(model_folder), sc.load_dataset("digits")
    noisy = sc.SmoothedClassifier(classifier.model, sc.Gaussian(0.5), 10)
    how = {"procedure": sc.FixedSample(n0=32, n=64), "workers": 1, "indices": range(6)}
    sc.certify(noisy, digits, out=tmp_path / "noisy", **how)
    other = {
        "noisy": ([tmp_path / "noisy"], "another noise"),
        "norm": ([runs / "c", "--norm", "linf"], "in l2"),
    }
    for words, sentence in other.values():
        argv = [
            "report",
            *words,
            "--attack",
            tmp_path / "attack",
            "--gap-copies",
            "0",
            "--out",
            tmp_path / "p.html",
        ]
        monkeypatch.setattr("sys.argv", ["smoothcert", *map(str, argv)])
        with pytest.raises(SystemExit):
            main()
        assert sentence in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()


def test_an_unfinished_run_is_shown_as_such(runs, tmp_path):
    shutil.copytree(runs / "a", tmp_path / "part")
    keep_images(tmp_path / "part", 4)
    done = invoke(tmp_path / "part", "--gap-copies", "0", "--out", tmp_path / "p.html")
    assert done.exit_code == 0, done.output
    assert "part is unfinished: 4 of its 6 images are in" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize("words, sentence", [
    (["nowhere"], "there is no .*nowhere; give run folders or TSV logs"),
    (["empty"], "not a run folder"),
    (["."], "give one of the runs in it: a, b, c"),
    (["a", "l0"], "different norms"),
    (["a", "a"], "NAME=PATH"),
    (["a", "log.tsv", "--dataset", "digits"], "is a log"),
    (["a", "--norm", "linf", "log.tsv"], "tells neither norm"),
    (["a", "--model", "b"], "not a model folder"),
    (["a", "--gap-image", "99999", "--dataset", "digits"], "--gap-image"),
    (["a", "--gap-copies", "-1"], "--gap-copies"),
    (["a", "--radii", "0,-1"], "each of --radii"),
    (["a", "--radii", "x"], "--radii"),
    (["log.tsv", "--latex", "log.tsv"], "over or into log.tsv"),
    (["a", "--csv", "a/run.sqlite"], "over or into a"),
    (["a", "--csv", "t.csv", "--latex", "t.csv"], "written twice"),
    (["a", "--csv", "t.csv", "--costs", "--latex", "t-costs.csv"], "written twice"),
    (["a", "c", "--envelope", "e=a,c", "--csv", "t.csv"], "two runs of one model"),
    (["a", "unbegun"], "unbegun has no finished image"),
    (["a", "--attack", "empty"], "attack"),
    (["a", "--against", "empty"], "not a run folder"),
    (["a", "--against", "early"], "run of CERTIFY"),
    (["a", "--against", "unbegun"], "not finished"),
    (["log.tsv", "--costs"], "table of costs needs"),
    (["a", "--dataset", "mnist"], "mnist"),
], ids=" ".join)  # fmt: skip
def test_what_cannot_be_shown_is_said_in_a_sentence(runs, tmp_path, monkeypatch, capsys, words, sentence):
    monkeypatch.chdir(runs)
    monkeypatch.setattr("sys.argv", ["smoothcert", "report", *words, "--out", str(tmp_path / "page.html")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    error = capsys.readouterr().err
    assert re.search(sentence, error), error
    assert not (tmp_path / "page.html").exists()


@pytest.mark.parametrize("out, sentence", [
    (None, "--out is missing"),
    ("folder.html", "--out must be a file"),
    ("log.tsv", "--out must end in .html"),
    ("file/page.html", "file"),
])  # fmt: skip
def test_a_page_that_cannot_be_written(runs, tmp_path, monkeypatch, capsys, out, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    (tmp_path / "file").write_text("x")
    words = [] if out is None else ["--out", out]
    argv = ["smoothcert", "report", str(runs / "a"), "--gap-copies", "0", *words]
    monkeypatch.setattr("sys.argv", argv)
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert sentence in capsys.readouterr().err
