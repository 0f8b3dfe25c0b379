"""A training method of another package, one file: listed, trained, continued, certified, and named on the card."""

import json
import os
from types import SimpleNamespace

import pytest

from extension.installing import SOURCE, warm_python

LABEL_SMOOTHING = '''
from dataclasses import dataclass
from typing import ClassVar

from torch.nn.functional import cross_entropy

from smoothcert.training import Objective, Step


@dataclass(frozen=True)
class LabelSmoothing(Objective):
    """Cross entropy on one noisy copy with labels that leave some doubt.

    Args:
        doubt: share of the label that is spread over all classes.
    """

    summary: ClassVar[str] = "noisy images with smoothed labels"
    doubt: float = 0.1

    def loss(self, step: Step):
        logits = step.model(step.copies(1)[0])
        return {"cross_entropy": cross_entropy(logits, step.labels, label_smoothing=self.doubt)}
'''
RECIPE = """
about: smoothed labels on digits
base: {dataset: digits, method: label-smoothing, epochs: 3, max_train_images: 96, batch_size: 32,
       settings: {doubt: 0.2}}
networks: {convnet: {}}
rows: {0.25: {}}
"""
STOP = """
import smoothcert as sc
def stop(metrics):
    raise SystemExit(0)
sc.train(sc.load_recipe("own.yaml").config(seed=7), "models/parts", on_epoch=stop)
"""


def write_package(home, code=LABEL_SMOOTHING, version="1.2"):
    """Write an installed package that offers one method by its entry point."""
    info = home / "smoothed_labels.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: smoothed-labels\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(
        "[smoothcert.training.objectives]\nlabel-smoothing = label_smoothing:LabelSmoothing\n"
    )
    (home / "label_smoothing.py").write_text(code)


@pytest.fixture
def run(tmp_path):
    """Run Python in a process that has the package."""
    home = tmp_path / "site"
    write_package(home)
    (tmp_path / "own.yaml").write_text(RECIPE)
    path = os.pathsep.join([str(home), str(SOURCE)])

    def run(option, code, *arguments):
        code = f"import runpy; runpy.run_module({code!r}, run_name='__main__')" if option == "-m" else code
        there = f"import os; os.chdir({str(tmp_path)!r})\n{code}"
        done = SimpleNamespace()
        done.returncode, done.stdout, done.stderr = warm_python().run(there, arguments, {"PYTHONPATH": path})
        assert "Traceback" not in done.stderr, done.stderr
        return done

    return run


def card_in(folder):
    return json.loads((folder / "model.json").read_text())


@pytest.mark.slow
def test_it_is_listed_trained_and_continued_from_the_command_line(run, tmp_path):
    listed = json.loads(run("-m", "smoothcert", "methods", "--json").stdout)
    assert [row["their defaults"] for row in listed if row["name"] == "label-smoothing"] == ["doubt=0.1"]
    command = ("-m", "smoothcert", "train", "own.yaml", "--seed", "7", "--out")
    whole = run(*command, "models/whole")
    assert whole.returncode == 0, whole.stderr
    assert "method label-smoothing" in whole.stdout
    run("-c", STOP)
    assert (tmp_path / "models" / "parts" / "training.safetensors").exists()
    continued = run(*command, "models/parts")
    assert "continuing after epoch 1" in continued.stderr
    cards = [card_in(tmp_path / "models" / name) for name in ("whole", "parts")]
    assert cards[0]["digest"] == cards[1]["digest"]
    assert cards[0]["training"]["packages"] == {
        "method": {"label-smoothing": {"package": "smoothed-labels", "version": "1.2"}}
    }
    few = ("--first", "3", "--n", "200", "--seed", "1", "--workers", "1")
    for job in (("certify", "models/parts", *few, "--out", "runs/a"), ("audit", "runs/a")):
        done = run("-m", "smoothcert", *job)
        assert done.returncode == 0, done.stderr
    other = run(*command, "models/gaussian", "--set", "method=gaussian")
    assert other.returncode == 0, other.stderr
    card = card_in(tmp_path / "models" / "gaussian")
    assert "packages" not in card["training"]
    assert card["digest"] != cards[0]["digest"]
    again = run(*command, "models/other", "--set", "doubts=0.3")
    assert again.returncode == 2
    assert "--set knows no 'doubts'; names: doubt," in again.stderr


@pytest.mark.slow
def test_another_version_of_it_does_not_continue(run, tmp_path):
    run("-c", STOP)
    write_package(tmp_path / "site", version="2.0")
    refused = run("-m", "smoothcert", "train", "own.yaml", "--seed", "7", "--out", "models/parts")
    assert refused.returncode == 2
    assert "unfinished training with another packages" in " ".join(refused.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("doubt: float = 0.1", "doubt: float", "has a setting 'doubt' without a default; give it one"),
        ("@dataclass(frozen=True)", "", "must be a frozen dataclass"),
        ('{"cross_entropy": ', '{"a": 1.0, "cross_entropy": ', "must return the named parts of its loss"),
        ("from torch", "from nowhere", "of package smoothed-labels 1.2 cannot be imported"),
    ],
)
def test_what_is_wrong_with_it_is_said_in_a_sentence(run, tmp_path, old, new, sentence):
    write_package(tmp_path / "site", LABEL_SMOOTHING.replace(old, new))
    refused = run("-m", "smoothcert", "train", "own.yaml", "--out", "models/a")
    assert refused.returncode == 2
    assert sentence in " ".join(refused.stderr.split())
    assert not (tmp_path / "models" / "a" / "model.json").exists()
