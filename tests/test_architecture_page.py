"""The page on the architecture: the files it names are there, and its examples are a package that works."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from docs.rooms import SOURCE

PAGE = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
EXAMPLES = dict(re.findall(r"```python\n# my_smoothing/(\w+)\.py\n(.*?)```", PAGE, re.DOTALL))
(PROJECT,) = (tomllib.loads(block) for block in re.findall(r"```toml\n(.*?)```", PAGE, re.DOTALL))
USE = """
import sys
from pathlib import Path
import smoothcert as sc
from smoothcert.certificates import PROCEDURES
from smoothcert.ensembles import EARLY_EXITS
from smoothcert.noise import NOISE_LAWS, noise_from

home = Path(sys.argv[1])
law = NOISE_LAWS["border-gaussian"](0.25, border=3.0)
assert noise_from(law.describe()) == law
data, folders = sc.load_dataset("two-bars"), [home / f"m{seed}" for seed in range(3)]
for seed, folder in enumerate(folders):
    config = {"dataset": "two-bars", "model": "tiny-mlp", "method": "label-smoothing", "epochs": 3, "seed": seed}
    sc.train({**config, "noise": "border-gaussian", "sigma": 0.25}, folder, show_progress=False)
models = [sc.load_model(folder)[0] for folder in folders]
ensemble = EARLY_EXITS["sure-first"](sure=0.9).over(sc.VotingEnsemble(models, "median")).eval()
classifier = sc.SmoothedClassifier(ensemble, law, 2)
how = {"procedure": PROCEDURES["one-radius"](radius=0.1, n=1_000), "seed": 1, "workers": 1}
run = sc.certify(classifier, data, indices=range(8), out=home / "run", **how)
again = sc.certify(sc.SmoothedClassifier(models[0], law, 2), data, indices=range(8), engine="double", **how)
assert run.certified_accuracy([0.1])[0] >= 0.5 and again.certified_accuracy([0.1])[0] >= 0.5
assert set(run.column("radius")) <= {0.0, 0.1}
report = sc.audit(home / "run", model=classifier, dataset=data, show_progress=False)
assert not report.findings, report.findings
print(run.manifest)
"""


def test_the_files_it_names_are_there():
    named = set(re.findall(r"`([a-z_]+/[a-z_/*]+(?:\.py)?|[a-z_]+\.py)/?`", PAGE.split("## Adding")[0]))
    named -= {"tests/test_import_order.py"}
    assert len(named) > 20
    for place in named:
        assert any(SOURCE.glob(place)), place


def test_every_example_is_short_and_an_entry_point():
    points = {
        value: (group, name)
        for group, members in PROJECT["project"]["entry-points"].items()
        for name, value in members.items()
    }
    assert {value.removeprefix("my_smoothing.") for value in points} == set(EXAMPLES)
    for stem, text in EXAMPLES.items():
        group, name = points[f"my_smoothing.{stem}"]
        assert (SOURCE / Path(*group.split(".")[1:])).is_dir(), group
        assert name == stem.replace("_", "-")
        assert text.count("\n") <= 120


@pytest.mark.slow
def test_the_examples_train_certify_and_pass_an_audit(tmp_path):
    site = tmp_path / "site"
    about = site / "my_smoothing-0.1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: my-smoothing\nVersion: 0.1\n")
    groups = PROJECT["project"]["entry-points"].items()
    lines = [
        line
        for group, members in groups
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in members.items()))
    ]
    (about / "entry_points.txt").write_text("\n".join(lines))
    (site / "my_smoothing").mkdir()
    for stem, text in EXAMPLES.items():
        (site / "my_smoothing" / f"{stem}.py").write_text(text)
    path = os.pathsep.join([str(site), str(SOURCE.parent), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-c", USE, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "my-smoothing" in done.stdout  # the run names the package that its members come from
