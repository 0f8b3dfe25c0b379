"""The command line: what works, and one sentence with exit code 2 for what a person may get wrong."""

import csv
import io
import json
import shutil
import sqlite3
import subprocess
import sys

import pytest

import smoothcert as sc
from smoothcert.cli.app import COMMANDS
from smoothcert.store import format_tsv

TSV = (
    "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t1\t1\t0.5\t1\t2\n7\t1\t1\t0.1\t1\t2\n9\t1\t-1\t0\t0\t2\n"
)


@pytest.fixture(scope="module")
def run_folder(classifier, digits, tmp_path_factory):
    """A run with abstentions, on which all radii have many digits."""
    folder = tmp_path_factory.mktemp("runs") / "fixed"
    options = {"procedure": sc.FixedSample(n=500), "seed": 3, "indices": range(12), "workers": 1}
    assert None in sc.certify(classifier, digits, out=folder, **options).column("predicted")
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command, smoothcert):
    code, out, err = smoothcert(command, "--help")
    assert (code, err) == (0, "")
    assert "Example:" in out
    assert f"smoothcert {command}" in out.split("Example:")[1]


def test_the_commands_that_there_are(smoothcert):
    code, out, _ = smoothcert("--help")
    assert code == 0
    assert all(f" {command} " in out for command in COMMANDS)
    assert {"demo", "certify", "predict", "analyze", "export"} <= set(COMMANDS)


LONG = "1" + "0" * 39
MISTAKES = {  # options of `certify`, and what the sentence must say
    "--dataset imagine": "unknown dataset 'imagine'; known: cifar10, ",
    "--procedure magic --radius 1": "unknown procedure 'magic'; known: fixed, group, sequential, staged",
    "--noise cauchy": "unknown noise 'cauchy'; known: discrete, gaussian, grid-gaussian, laplace, uniform",
    "--engine warp": "unknown engine 'warp'; known: ",
    "--sigma 0": "sigma must be",
    "--sigma -0.25": "got -0.25",
    "--sigma nan": "got nan",
    "--sigma inf": "got inf",
    "--alpha 0": "alpha is an error probability and must lie strictly between 0 and 1",
    "--alpha 1": "alpha is an error probability and must lie strictly between 0 and 1",
    "--alpha -0.001": "alpha is an error probability and must lie strictly between 0 and 1",
    "--alpha nan": "alpha is an error probability and must lie strictly between 0 and 1",
    "--n 0": "n must be an integer number of votes, at least 1, got 0",
    "--n -3": "got -3",
    "--n0 0": "n0 must be an integer number of votes, at least 1, got 0",
    "--procedure staged --radius 0.25 --n0 0": "n0 must be",
    "--procedure staged --radius 0.25 --stages 100,100": "stages must be increasing",
    "--procedure staged --radius 0.25 --stages 1000,100": "got (1000, 100)",
    "--procedure staged --radius 0.25 --stages 0,100": "each of stages",
    "--procedure staged --radius 0.25 --stages 100,many": "--stages must be numbers separated by commas",
    "--procedure staged --radius -0.1": "radius must be a finite number >= 0 in pixel units, got -0.1",
    "--procedure group --radius nan": "radius must be a finite number >= 0 in pixel units, got nan",
    "--procedure group --radius inf": "got inf",
    "--procedure group --radius 0.25 --beta 0": "beta is an error probability",
    "--procedure sequential --radii 0,-0.5": "each of radii must be a finite number >= 0",
    "--procedure sequential --radii 0;1": "--radii must be numbers separated by commas such as 0,0.25,0.5",
    "--procedure sequential --radius 50": "radius 50 is out of reach of gaussian noise (sigma 0.25)",
    "--procedure staged --noise uniform --radius 0.5": "radius 0.5 is out of reach of",
    "--procedure sequential --radii 0,50": "radius 50 is out of reach of gaussian noise (sigma 0.25)",
    "--procedure sequential --radius 0.1 --radii 0,1": "give radius, radii or neither",
    "--procedure group": "add --radius 0.25",
    "--procedure group --radius 0.25 --radii 0": "procedure 'group' takes no --radii; it takes --radius",
    "--procedure staged --radius 0.25 --n 9": "procedure 'staged' takes no --n;",
    "--radius 0.25": "procedure 'fixed' takes no --radius; it takes --n0, --n",
    "--stages 1,2": "procedure 'fixed' takes no --stages",
    "--beta 0.1": "procedure 'fixed' takes no --beta",
    "--first 501": "first must lie in 1..500",
    "--first 0": "got 0",
    "--every 0": "every must be an integer of at least 1, got 0",
    "--every 2 --first 3": "first and indices choose alone, every, offset and max together; got every and first",
    "--indices 5-7": "indices must look like 10:20",
    "--indices=-1:3": "got '-1:3'",
    "--indices 5:5": "indices must choose at least one image",
    "--indices 490:501": "end at 500 at most",
    "--workers 0": "workers must be a positive integer",
    "--workers -2": "got -2",
    "--batch-size 0": "batch_size must be a positive integer of rows, got 0",
    "--seed abc": "--seed must be an integer from 0 to 2^128 - 1, got 'abc'",
    "--seed 1.5": "got '1.5'",
    "--seed -1": "seed must be an integer from 0 to 2^128 - 1, got -1",
    f"--seed {LONG}": f"seed must be an integer from 0 to 2^128 - 1, got {LONG}",
}


@pytest.mark.parametrize("options", MISTAKES)
def test_a_mistake_is_one_sentence_and_nothing_is_written(
    options, smoothcert, model_folder, tmp_path, refused
):
    err = refused(smoothcert("certify", model_folder, "--out", tmp_path / "runs" / "x", *options.split()))
    assert MISTAKES[options] in err
    assert list(tmp_path.iterdir()) == []


def test_places_that_do_not_fit(smoothcert, model_folder, run_folder, tmp_path, refused):
    out, file = tmp_path / "out", tmp_path / "file"
    file.write_text("mine")
    assert "nowhere is not a model folder" in refused(
        smoothcert("certify", tmp_path / "nowhere", "--out", out)
    )
    assert "is not a model folder" in refused(smoothcert("certify", run_folder, "--out", out))
    assert "is a file; choose a folder" in refused(smoothcert("certify", model_folder, "--out", file))
    assert "already holds a run" in refused(smoothcert("certify", model_folder, "--out", run_folder))
    assert "cannot resume" in refused(smoothcert("certify", model_folder, "--resume", "--out", run_folder))
    assert "name too long" in refused(smoothcert("certify", model_folder, "--out", tmp_path / ("x" * 300)))
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert file.read_text() == "mine"


def test_analyze_export_and_predict_mistakes(smoothcert, model_folder, run_folder, tmp_path, refused):
    bad = tmp_path / "bad.tsv"
    bad.write_text(TSV.replace("0.5", "half"))
    assert "there is no " in refused(smoothcert("analyze", tmp_path / "missing"))
    assert "is not a run folder" in refused(smoothcert("analyze", tmp_path))
    assert "bad.tsv line 2: " in refused(smoothcert("analyze", run_folder, bad))
    assert "name too long" in refused(smoothcert("analyze", "x" * 300))
    assert "is not a run folder" in refused(smoothcert("export", tmp_path))
    target = tmp_path / "table"
    known = "unknown export format 'xls'; known: csv, json, parquet, tsv"
    assert known in refused(smoothcert("export", run_folder, "--format", "xls", "-o", target))
    assert "cannot write" in refused(smoothcert("export", run_folder, "-o", tmp_path))
    assert "is not a model folder" in refused(smoothcert("predict", tmp_path))
    assert "n must be" in refused(smoothcert("predict", model_folder, "--n", "0"))
    assert "workers must" in refused(smoothcert("predict", model_folder, "--workers", "0"))
    assert [path.name for path in tmp_path.iterdir()] == ["bad.tsv"]


def test_certify_with_the_largest_seed(smoothcert, model_folder, tmp_path):
    options = f"--first 3 --n 200 --seed {2**128 - 1} --batch-size 50 --workers 2"
    code, out, err = smoothcert("certify", model_folder, "--out", tmp_path / "run", *options.split())
    assert (code, err) == (0, "engine torch (no other is worth trying for so few votes)\n")
    assert "images 0 to 2" in out
    run = sc.Run.open(tmp_path / "run")
    assert run.manifest["seed"] == str(2**128 - 1)
    assert run.is_complete


def test_analyze_json_is_unrounded(smoothcert, run_folder, tmp_path):
    log = tmp_path / "log.tsv"
    log.write_text(TSV)
    code, out, err = smoothcert("analyze", run_folder, log, "--json")
    assert (code, err) == (0, "")
    run, published = json.loads(out)
    assert (published["path"], published["images"], published["acr"]) == (str(log), 3, 0.6 / 3)
    assert published["certified_accuracy"] == {"0.00": 2 / 3, "0.25": 1 / 3, "0.50": 1 / 3}
    assert published["abstained"] == 1 / 3
    whole = sc.Run.open(run_folder)
    assert (run["path"], run["images"], run["acr"]) == (str(run_folder), 12, whole.average_radius())
    radii = [float(radius) for radius in run["certified_accuracy"]]
    assert radii == [0.25 * i for i in range(len(radii))]
    assert radii[-1] >= whole.results.radius[whole.results.correct].max() > radii[-2]
    assert list(run["certified_accuracy"].values()) == whole.certified_accuracy(radii).tolist()


def test_analyze_prints_a_table_also_of_what_has_just_begun(smoothcert, classifier, digits, tmp_path):
    out = tmp_path / "run"

    def stop(*_):
        raise KeyboardInterrupt

    options = {"procedure": sc.FixedSample(n=100), "indices": range(3), "workers": 1}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("smoothcert.sampling.Sampler.draw", stop)
        with pytest.raises(KeyboardInterrupt):
            sc.certify(classifier, digits, out=out, **options)
    code, table, err = smoothcert("analyze", out)
    assert (code, err) == (0, "")
    assert "no images" in table
    code, text, err = smoothcert("analyze", out, "--json")
    assert (code, err) == (0, "")
    assert json.loads(text)[0]["images"] == 0
    for form in ("tsv", "csv", "json"):
        assert smoothcert("export", out, "--format", form)[0] == 0


@pytest.mark.parametrize("form", ["tsv", "csv", "json"])
def test_export_to_a_file_or_standard_output(form, smoothcert, run_folder, tmp_path):
    code, out, err = smoothcert("export", run_folder, "--format", form)
    assert (code, err) == (0, "")
    assert smoothcert("export", run_folder, "--format", form, "-o", tmp_path / "table") == (0, "", "")
    assert (tmp_path / "table").read_text() == out
    assert smoothcert("export", run_folder, "-o", tmp_path / f"table.{form}") == (0, "", "")  # by the ending
    assert (tmp_path / f"table.{form}").read_text() == out
    code, _, err = smoothcert("export", run_folder, "-o", tmp_path / "new" / "table")
    assert (code, (tmp_path / "new").exists()) == (2, False)
    assert "make it first" in err
    run = sc.Run.open(run_folder)
    if form == "tsv":
        assert out == format_tsv(run)
        return
    rows = json.loads(out) if form == "json" else list(csv.DictReader(io.StringIO(out)))
    assert [float(row["radius"]) for row in rows] == run.column("radius")  # every digit
    assert [float(row["p_lower"]) for row in rows] == run.column("p_lower")
    read = [int(row["predicted"]) if row["predicted"] not in (None, "") else None for row in rows]
    assert read == run.column("predicted")


def test_predict_answers_or_abstains(smoothcert, model_folder, classifier, digits):
    options = ("--indices", "0:6", "--n", "200", "--seed", "5", "--workers", "1")
    code, out, err = smoothcert("predict", model_folder, *options, "--json")
    assert (code, err) == (0, "")
    expected = [classifier.predict(digits.image(i), 200, seed=5, index=i, workers=1) for i in range(6)]
    told = json.loads(out)
    assert [row["predicted"] for row in told["answers"]] == expected
    assert (told["seed"], told["n"], told["alpha"]) == ("5", 200, 0.001)
    assert None in expected
    assert len(set(expected)) > 1
    code, out, _ = smoothcert("predict", model_folder, *options)
    names = ["abstain" if found is None else str(found) for found in expected]
    assert [line.split("\t")[:2] for line in out.splitlines()] == [[str(i), names[i]] for i in range(6)]


@pytest.mark.slow
def test_exit_codes_of_the_real_program(tmp_path, refused):
    (tmp_path / "log.tsv").write_text(TSV)
    command = [sys.executable, "-m", "smoothcert"]
    for args, code in ((["analyze", "log.tsv", "--json"], 0), (["certify", "nowhere", "--out", "run"], 2)):
        done = subprocess.run([*command, *args], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == code
        if code:
            assert refused((done.returncode, done.stdout, done.stderr))
        else:
            assert json.loads(done.stdout)[0]["images"] == 3
            assert done.stderr == ""
    assert [path.name for path in tmp_path.iterdir()] == ["log.tsv"]


def test_an_unfinished_run_is_called_that(smoothcert, run_folder, tmp_path):
    """Hard images end last, so the figures of an unfinished run look better than they are."""
    copied = tmp_path / "part"
    shutil.copytree(run_folder, copied)
    with sqlite3.connect(copied / "run.sqlite") as database:
        database.execute("DELETE FROM certificates WHERE idx = (SELECT MAX(idx) FROM certificates)")
        database.execute("DELETE FROM counts WHERE idx = (SELECT MAX(idx) FROM counts)")
    database.close()
    assert "is unfinished, 1 of its images" in " ".join(smoothcert("analyze", copied)[1].split())
    assert json.loads(smoothcert("analyze", copied, "--json")[1])[0]["missing_images"] == 1
    code, _, err = smoothcert("export", copied)
    assert code == 0
    assert "unfinished, 1 image missing" in err
    assert "unfinished" not in smoothcert("analyze", run_folder)[1]


def test_only_asked_radii_have_figures(smoothcert, model_folder, tmp_path):
    options = ("--first", "5", "--procedure", "group", "--radius", "0.25", "--n", "1000", "--seed", "1")
    code, out, _ = smoothcert("certify", model_folder, *options, "--out", tmp_path / "g")
    assert code == 0
    assert "r=0.25" in out
    assert "r=0.1" not in out
    told = json.loads(smoothcert("analyze", tmp_path / "g", "--json")[1])[0]
    assert told["asked_radii"] == [0.25]
    assert (told["norm"], told["alpha"], told["procedure"]["name"]) == ("l2", 0.001, "group")
    code, out, _ = smoothcert(
        "certify", model_folder, *options, "--noise", "laplace", "--out", tmp_path / "l"
    )
    assert "different norms" in " ".join(smoothcert("analyze", tmp_path / "g", tmp_path / "l")[1].split())


def test_version(smoothcert):
    code, out, _ = smoothcert("--version")
    assert (code, out.strip()) == (0, f"smoothcert {sc.__version__}")
