"""A reader who copies every command of a page, in an empty folder, gets to its end."""

import json
import os
import subprocess
import sys

import pytest

from following import ROOT, blocks_of
from stand_in_mnist import write_stand_in

PAGES = {
    "README.md": ("page.html", "runs/a/run.sqlite"),
    "docs/getting_started.md": ("page.html", "ensemble.tsv", "demo/report.html"),
    "docs/tutorial_mnist.md": ("mnist.html", "models/quick/ensemble.json", "runs/three/ensemble/run.sqlite"),
    "docs/tutorial_own.md": ("mine.html", "models/ours/ensemble.json", "runs/file/run.sqlite"),
    "docs/audit.md": ("demo/runs/ensemble/run.sqlite",),
    "docs/promises.md": (),
    "docs/own_data.md": ("my.npz",),
}
"""Pages whose blocks are run, and some of the files that are there afterwards."""


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    """The demo's folder: what the pages take for granted, and what is used again where they make it."""
    home = tmp_path_factory.mktemp("demo")
    subprocess.run([sys.executable, "-m", "smoothcert", "demo", "--out", str(home / "demo")], check=True)
    return home / "demo"


def followed(page, folder):
    done = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "following.py"), str(ROOT / page), str(folder)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("page", [page for page in PAGES if "tutorial_mnist" not in page])
def test_a_page_can_be_followed(page, demo, tmp_path):
    if any("demo" in block.text for block in blocks_of(ROOT / page)):
        (tmp_path / "demo").symlink_to(demo)  # made once for all pages; "smoothcert demo" finds it done
    followed(page, tmp_path)
    assert not [name for name in PAGES[page] if not (tmp_path / name).exists()]


@pytest.mark.slow
def test_mnist_from_training_to_audit(tmp_path):
    write_stand_in(tmp_path / "data" / "mnist")
    said = followed("docs/tutorial_mnist.md", tmp_path)
    assert not [name for name in PAGES["docs/tutorial_mnist.md"] if not (tmp_path / name).exists()]
    assert said.count("can be trusted") == 2
    card = json.loads((tmp_path / "models" / "three" / "member-0" / "model.json").read_text())
    assert card["training"]["epochs"] == 2
