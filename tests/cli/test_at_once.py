"""What needs no network answers without torch, and without the other libraries that take as long to import."""

import os
import subprocess
import sys

import pytest

import smoothcert as sc

SLOW = ("torch", "lightning_fabric", "onnx", "onnxruntime", "scipy.stats", "pandas", "sklearn", "matplotlib")
ASK = f"""
import sys
sys.argv = ["smoothcert", *sys.argv[1:]]
from smoothcert.cli.app import main
try:
    main()
finally:
    print("loaded:", *(name for name in {SLOW} if name in sys.modules), file=sys.stderr)
"""
LOG = "idx\tlabel\tpredict\tradius\tcorrect\ttime\n0\t7\t7\t1.5\t1\t0:00:01\n1\t2\t-1\t0.0\t0\t0:00:02\n"


def loaded_by(*arguments, code=ASK, env=None):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr.rpartition("loaded:")[2].split()


def test_import_loads_no_torch():
    _, loaded = loaded_by(
        code=f"import smoothcert, sys; print('loaded:', *(n for n in {SLOW} if n in sys.modules), file=sys.stderr)"
    )
    assert loaded == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["--version"],
        ["recipes"],
        ["recipes", "--sources"],
        ["datasets"],
        ["models"],
        ["methods"],
        ["import", "--help"],
        ["certify", "--help"],
        ["predict", "--help"],
        ["analyze", "--help"],
        ["compare", "--help"],
        ["train", "--help"],
        ["describe", "--help"],
    ],
    ids=" ".join,
)
def test_a_command_that_only_tells_loads_no_torch(arguments):
    told, loaded = loaded_by(*arguments)
    assert told.strip()
    assert loaded == []


def test_logs_and_runs_are_read_without_torch(tmp_path, truth_run):
    log = tmp_path / "log.tsv"
    log.write_text(LOG)
    told, loaded = loaded_by("analyze", str(log), str(truth_run))
    assert "log.tsv" in told
    assert loaded == []
    told, loaded = loaded_by("compare", str(log), str(log))
    assert "Nothing can be concluded" in told
    assert loaded == []
    told, loaded = loaded_by("export", str(truth_run))
    assert told.startswith("idx\tlabel")
    assert loaded == []


@pytest.fixture
def truth_run(tmp_path):
    classifier = sc.SmoothedClassifier(lambda x: x[:, :2], sc.Gaussian(0.25), 2, input_shape=(2,))
    dataset = sc.Dataset.from_arrays([[0.9, 0.1], [0.2, 0.7]], [0, 1])
    sc.certify(classifier, dataset, procedure=sc.FixedSample(n0=10, n=64), seed=1, out=tmp_path / "run")
    return tmp_path / "run"


def test_completion_is_shown_for_a_named_shell_without_torch():
    named = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # the tests' own has no name
    told, loaded = loaded_by("--show-completion", "bash", env=named)
    assert "complete_bash" in told
    assert loaded == []


def test_completion_offers_commands_and_options_without_torch():
    def completed(words):
        asked = {**os.environ, "_SMOOTHCERT_COMPLETE": "complete_bash", "COMP_WORDS": words}
        asked["COMP_CWORD"] = str(len(words.split()) - 1)
        code = ASK.replace('"smoothcert", *sys.argv[1:]', '"smoothcert"')
        return loaded_by(code=code, env=asked)

    offered, loaded = completed("smoothcert cert")
    assert offered.split() == ["certify"]
    assert loaded == []
    offered, loaded = completed("smoothcert certify --rad")
    assert {"--radius", "--radii"} <= set(offered.split())
    assert loaded == []


def test_every_shipped_name_is_a_file_that_has_its_function():
    from typer.main import get_command

    from smoothcert.cli.app import COMMANDS, app

    program = get_command(app)
    for name in COMMANDS:
        command = program.commands[name]
        assert command.help
        assert command.loaded().name == name
        assert command.loaded().help.split("\n")[0] == command.help.split("\n")[0]
