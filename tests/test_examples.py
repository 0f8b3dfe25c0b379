"""Every example is short, is listed, and runs as it stands in an empty folder."""

import ast
import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "examples"
SAYS = {
    "own_torch_model": r"image 0: class \d within 0\.\d+ .*certified accuracy at radius 0\.25: 0\.[5-9]",
    "timm_model": r"SmoothedClassifier\(.*num_classes=10\)\nclass (\d|None), radius 0",
    "onnx_file": r"(\d\d)% of 20 images are proven right .*runs/onnx can be trusted",
    "ensemble_of_checkpoints": r"models/soft +average certified radius 0\.\d+, 3\.00 .*models/consensus .*, 2\.\d+ ",
    "live_radius": r"image 3: +128 votes, class .*image 3: (go|careful) after",
    "ray_cluster": r"on the cluster (0\.\d+), here \1\n",
    "service_client": r"certified: .* [0-9a-f]{32}\n(\d+ votes prove \S+\n)+$",
    "audit_in_ci": r"runs/release can be trusted: .*certified accuracy at 0\.25: 0\.\d+, at least 0\.5 wanted",
}
NEEDS = {"timm_model": "timm", "ray_cluster": "ray", "service_client": "fastapi"}

# Takes what the example asks of timm, and is a network of its names and answers.
STAND_IN = """
from torch import nn


class Net(nn.Module):
    pretrained_cfg = {"mean": (0.485, 0.456, 0.406), "std": (0.229, 0.224, 0.225)}

    def __init__(self, num_classes):
        super().__init__()
        self.fc = nn.Linear(3, num_classes)

    def forward(self, batch):
        return self.fc(batch.mean(dim=(2, 3)))


def create_model(model_name, pretrained=False, *, num_classes=1000):
    assert model_name == "resnet18" and not pretrained
    return Net(num_classes)
"""


def run(name, folder, *, path=()):
    """Run an example in a folder; returns what it printed."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"}
    environment["PYTHONPATH"] = os.pathsep.join([*map(str, path), os.environ.get("PYTHONPATH", "")])
    environment.pop("SMOOTHCERT_API_KEYS", None)
    done = subprocess.run(
        [sys.executable, FOLDER / f"{name}.py"],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_example_is_short_listed_and_run():
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    assert {path.stem for path in FOLDER.glob("*.py")} == set(SAYS) == set(re.findall(r"\((\w+)\.py\)", page))
    for name in SAYS:
        text = (FOLDER / f"{name}.py").read_text(encoding="utf-8")
        assert len(text.splitlines()) < 40, name
        assert ast.get_docstring(ast.parse(text)), name


@pytest.mark.slow
@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs_in_an_empty_folder(name, tmp_path):
    needed = NEEDS.get(name)
    if needed is not None and importlib.util.find_spec(needed) is None:
        pytest.skip(f"{needed} is not installed")
    assert re.search(SAYS[name], run(name, tmp_path), re.DOTALL)


@pytest.mark.slow
def test_the_example_of_timm_holds_for_a_package_that_answers_as_timm_does(tmp_path):
    packages, empty = tmp_path / "packages", tmp_path / "empty"
    packages.mkdir()
    empty.mkdir()
    (packages / "timm.py").write_text(STAND_IN)
    assert re.search(SAYS["timm_model"], run("timm_model", empty, path=[packages]))
