"""Names that others chose, on a terminal: text that can be seen, never markup and never a command to the terminal."""

import io
import sys
from dataclasses import replace

import pytest

import smoothcert as sc
from smoothcert.data import loading
from smoothcert.report import make_table, print_tables, say

MARKUP = "[/b][red]x[/]"
ESCAPES = "\x1b[2J\x1b]0;owned\x07\u202e"
SHOWN = r"\x1b[2J\x1b]0;owned\x07\u202e"
QUICK = sc.FixedSample(n0=64, n=64)


@pytest.fixture
def run(tmp_path, classifier, digits):
    def make(name):
        how = {"indices": [0, 1], "seed": 1, "workers": 1, "engine": "torch"}
        sc.certify(classifier, digits, procedure=QUICK, out=tmp_path / name, **how)
        return name

    return make


def clean(text):
    return all(character.isprintable() or character in "\n\t" for character in text)


@pytest.mark.parametrize("name", ["[/b]", "[bold]", MARKUP, ESCAPES, "a\nb", "\udcff"])
@pytest.mark.parametrize(
    "command", [["analyze"], ["export"], ["audit"], ["predict"], ["certify", "--out", "new"]]
)
def test_a_path_that_is_not_there(smoothcert, refused, name, command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    line = refused(smoothcert(command[0], name, *command[1:]))
    assert clean(line)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "shown"),
    [("[/b]", "[/b]"), ("[red]x", "[red]x"), ("\x1b[2J", r"\x1b[2J"), ("\udcff", r"\udcff")],
)
def test_a_run_of_such_a_name(smoothcert, run, name, shown, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = smoothcert("analyze", run(name), run("other"))
    assert code == 0, err
    assert shown in out
    assert clean(out)


def test_a_long_name_stays_whole_above_its_figures(smoothcert, run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = smoothcert("analyze", run(MARKUP.replace("/", "") * 3 + ESCAPES))
    assert code == 0
    assert out.splitlines().count(MARKUP.replace("/", "") * 3 + SHOWN) == 1
    assert clean(out)


def test_class_names(smoothcert, model_folder, monkeypatch, digits):
    odd = replace(digits, class_names=(f"{MARKUP}{ESCAPES}",) * 10)
    source = loading.DATASETS["digits"]
    monkeypatch.setitem(loading.DATASETS._members, "digits", replace(source, read=lambda request: odd))
    code, out, err = smoothcert("predict", model_folder, "--indices", "0:2", "--n", "64", "--engine", "torch")
    assert code == 0, err
    assert f"{MARKUP}{SHOWN}" in out
    assert clean(out)


def test_tables_and_lines(capsys):
    table = make_table(MARKUP, [MARKUP, ESCAPES], [[MARKUP, ESCAPES], ["[/]", "1"]])
    print_tables([table], [MARKUP, ESCAPES], width=200)
    say(f"{MARKUP}{ESCAPES}\nend")
    out = capsys.readouterr().out
    assert out.count(MARKUP) == 5
    assert out.count(SHOWN) == 4
    assert clean(out)


def test_a_terminal_without_the_characters(smoothcert, run, tmp_path, monkeypatch):
    """Standard output in ASCII: a name is shown as escapes, not a reason to fail."""
    monkeypatch.chdir(tmp_path)
    name, written = run("naïve"), io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    code, _, err = smoothcert("analyze", name)
    assert code == 0, err
    sys.stdout.flush()
    assert rb"na\xefve" in written.getvalue()


def test_messages_are_one_line_and_not_endless(smoothcert, refused):
    line = refused(smoothcert("predict", "x" * 100_000))
    assert len(line) < 1_200
    assert clean(line)


class TestExport:
    @pytest.fixture(autouse=True)
    def here(self, run, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        run("r")

    @pytest.mark.parametrize(
        ("output", "sentence"),
        [
            ("r", "cannot write r: it is a folder; name a file in it, such as r/run.tsv"),
            (".", "is a folder"),
            ("", "--output is empty; give a path"),
            ("  ", "--output is empty; give a path"),
            (
                "a.xlsx",
                "the ending of a.xlsx is none of csv, json, parquet, tsv; use one of them, or say --format",
            ),
            ("no/such/a.csv", "there is no folder no/such; make it first"),
            ("link.csv", "cannot write link.csv: it is a link; choose another name"),
        ],
    )
    def test_a_place_that_cannot_be(self, smoothcert, refused, tmp_path, output, sentence):
        (tmp_path / "link.csv").symlink_to("elsewhere")
        assert sentence in refused(smoothcert("export", "r", "-o", output))
        assert sorted(path.name for path in tmp_path.iterdir()) == ["link.csv", "r"]

    def test_an_unknown_ending_with_a_format(self, smoothcert, tmp_path):
        assert smoothcert("export", "r", "-o", "a.xlsx", "--format", "csv")[0] == 0
        assert smoothcert("export", "r", "-o", "a")[0] == 0
        assert (tmp_path / "a.xlsx").read_text().startswith("idx,")
        assert (tmp_path / "a").read_text().startswith("idx\t")


OUTS = {
    "certify": ["MODEL"],
    "attack": ["MODEL"],
    "train": ["digits-gaussian"],
    "sweep": ["digits-gaussian", "--over", "lr", "--values", "0.1"],
    "ensemble": ["MODEL", "MODEL"],
    "analyze": ["MODEL", "--variance"],
    "demo": [],
}


@pytest.mark.parametrize("out", ["", " ", "file", "file/below"])
@pytest.mark.parametrize("command", OUTS)
def test_a_folder_to_write_to_is_not_empty_and_not_a_file(
    smoothcert, refused, command, out, tmp_path, monkeypatch, model_folder
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("kept")
    words = [model_folder if word == "MODEL" else word for word in OUTS[command]]
    line = refused(smoothcert(command, *words, "--out", out))
    assert "--out is empty" in line if not out.strip() else "--out: file is a file; choose a folder" in line
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "kept"
