"""The options for papers, on a command of their own: what is told, refused, and written where."""

import csv
import io
import re
from pathlib import Path
from typing import Annotated

import pytest
import typer

from small_networks import save_network
from smoothcert import report
from smoothcert.cli import app as app_module
from smoothcert.cli import options as opt

LOG = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t7\t7\t{}\t1\t0:00:01\n1\t2\t-1\t0.0\t0\t0:00:02\n"


@opt.unfolded
def command(
    paths: Annotated[list[Path], opt.path_argument("PATH...", "Runs and logs.")],
    paper: opt.PaperFiles,
    model: Annotated[list[Path] | None, opt.path_option("--model", text="Folder of a model.")] = None,
) -> None:
    """Write what papers need."""
    named = report.named_paths(paths)
    summaries = [report.Summary.of_path(path).renamed(name) for name, path in named.items()]
    paper.write(summaries, models=model or (), paths=named)


@pytest.fixture
def paper(smoothcert, monkeypatch, tmp_path):
    """Run the command on two logs of one training and a third; return exit code, output, errors."""
    only = typer.Typer(pretty_exceptions_enable=False)
    only.command()(command)
    monkeypatch.setattr(app_module, "app", only)
    monkeypatch.chdir(tmp_path)
    for name, radius in (("a-seed0", 0.5), ("a-seed1", 0.7), ("b_c%", 0.9)):
        Path(f"{name}.tsv").write_text(LOG.format(radius))
    return lambda *options: smoothcert("a-seed0.tsv", "a-seed1.tsv", "b_c%.tsv", *options)


def test_tables_are_written_and_told(paper):
    code, out, err = paper("--latex", "new/t.tex", "--markdown", "t.md", "--csv", "t.csv", "--bold")
    assert (code, out) == (0, "")
    assert err.splitlines() == ["wrote new/t.tex", "wrote t.md", "wrote t.csv"]
    assert "a & 2 & 0.3000 $\\pm$ 0.0708" in Path("new/t.tex").read_text()
    assert r"b\_c\%.tsv & 1 & \textbf{0.4500}" in Path("new/t.tex").read_text()
    assert "| a | 2 | 0.3000 ± 0.0708 |" in Path("t.md").read_text()
    kinds = [row["kind"] for row in csv.DictReader(io.StringIO(Path("t.csv").read_text()))]
    assert kinds == ["run", "run", "mean over seeds", "run"]


def test_standard_output_holds_the_table_alone(paper):
    code, out, err = paper("--csv", "-", "--each-run", "--envelope", "two=./a-seed0.tsv, a-seed1.tsv")
    assert (code, err) == (0, "")
    names = [row["name"] for row in csv.DictReader(io.StringIO(out))]
    assert names == ["a-seed0.tsv", "a-seed1.tsv", "b_c%.tsv", "two: envelope of 2", "two: average of 2"]


def test_groups_have_the_names_they_are_given(paper):
    _, out, _ = paper(
        "--markdown", "-", "--group", "mine=a-seed0.tsv,b_c%.tsv", "--group", "other=a-seed1.tsv"
    )
    assert re.findall(r"^\| (\w+) \| (\d) \|", out, re.MULTILINE) == [("mine", "2"), ("other", "1")]


def test_figures_tell_what_they_lack(paper):
    code, out, err = paper("--figures", "figures")
    assert (code, out) == (0, "")
    assert err.count("wrote figures/certified_accuracy.") == 3
    assert "no figure p_a: logs in the field's columns hold no votes" in err
    assert len(list(Path("figures").iterdir())) == 3


def test_costs_are_printed_and_written_beside(paper, tmp_path):
    metrics = {"seconds": 5.0, "epoch": 2.0, "peak_memory_mb": 9.0}
    folder = save_network(tmp_path / "model", 1, metrics=metrics)
    code, out, err = paper("--costs", "--model", folder, "--csv", "t.csv")
    assert code == 0
    assert "Cost of models" in out
    assert "No run to compare" in " ".join(out.split())
    assert err.splitlines() == ["wrote t.csv", "wrote t-costs.csv"]
    (row,) = csv.DictReader(io.StringIO(Path("t-costs.csv").read_text()))
    assert (row["model"], row["training_seconds"], row["networks"]) == (str(folder), "5.0", "1")
    _, out, _ = paper("--costs", "--model", folder, "--latex", "-")
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--costs"], "give it by --model"),
        (["--group", "a=a-seed0.tsv"], "add --latex, --markdown or --csv"),
        (["--bold", "--csv", "-"], "--bold changes tables"),
        (["--envelope", "a=a-seed0.tsv,a-seed1.tsv", "--figures", "f"], "--envelope changes tables"),
        (["--csv", "-", "--group", "a"], "must be NAME=PATH"),
        (["--csv", "-", "--group", "=a-seed0.tsv"], "must be NAME=PATH"),
        (["--csv", "-", "--group", "a=a-seed0.tsv,"], "must be NAME=PATH"),
        (["--csv", "-", "--group", "a=a-seed0.tsv", "--group", "a=a-seed1.tsv"], "names 'a' twice"),
        (["--csv", "-", "--group", "a=none.tsv"], "not among the runs and logs"),
        (["--csv", "."], "names no file"),
        (["--figures", "a-seed0.tsv"], "is a file; choose a folder"),
        (["--figures", "f", "--csv", "t.csv", "--model", "nowhere"], "nowhere"),
        (["--latex", ""], "--latex is empty"),
    ],
)
def test_mistakes_are_refused_in_one_sentence_before_anything_is_written(paper, refused, options, why):
    before = sorted(Path().iterdir())
    assert why in refused(paper(*options))
    assert sorted(Path().iterdir()) == before


def test_nothing_asked_is_nothing_done(paper):
    assert paper() == (0, "", "")
