"""Build the release and try it as a user would: `make release-check`.

Builds wheel and source distribution into dist/, installs the wheel alone into a clean environment under the
constraints, runs the demo and a smoke test there in an empty folder, and asks for each extra whether it resolves. Needs
a package index.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"


def main() -> None:
    """Check the release; the first step that fails ends it."""
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    wheel = build(project["version"])
    with tempfile.TemporaryDirectory(prefix="smoothcert-release-") as place:
        python = clean_environment(Path(place) / "environment")
        empty = Path(place) / "empty"
        empty.mkdir()
        install(python, str(wheel))
        run([python, "-m", "smoothcert", "demo", "--out", "demo"], empty)
        smoke_test = Path(shutil.copy(ROOT / "release" / "smoke.py", empty))
        run([python, smoke_test.name, "demo", project["version"]], empty)
        for extra in project["optional-dependencies"]:
            resolve(python, f"{wheel}[{extra}]")
        install(python, f"{wheel}[serve]")
        run([python, smoke_test.name, "demo", project["version"], "--serve"], empty)
    print(f"{wheel.name} can be released")


def build(version: str) -> Path:
    """Build both distributions from a clean slate and return the wheel; refuse anything else in dist/."""
    dist = ROOT / "dist"
    for stale in (dist, ROOT / "build"):
        shutil.rmtree(stale, ignore_errors=True)
    run([sys.executable, "-m", "build", "--outdir", str(dist), "."], ROOT)
    names = {path.name for path in dist.iterdir()}
    wanted = {f"smoothcert-{version}-py3-none-any.whl", f"smoothcert-{version}.tar.gz"}
    if names != wanted:
        sys.exit(f"dist/ should hold {sorted(wanted)}, but holds {sorted(names)}")
    return dist / min(wanted)


def clean_environment(place: Path) -> Path:
    """Make an environment with nothing but pip and return its Python."""
    venv.create(place, with_pip=True)
    return place / "bin" / "python"


def install(python: Path, what: str) -> None:
    """Install under the constraints."""
    run([*pip(python), "install", "--quiet", "-c", str(CONSTRAINTS), what], python.parent)


def resolve(python: Path, what: str) -> None:
    """Ask pip what it would install, without doing so; an extra must not move torch."""
    command = [*pip(python), "install", "--quiet", "--dry-run", "--report", "-", "-c", str(CONSTRAINTS), what]
    found = json.loads(run(command, python.parent, quiet=True))["install"]
    names = sorted(f"{part['metadata']['name']} {part['metadata']['version']}" for part in found)
    if any(name.startswith("torch ") for name in names):
        sys.exit(f"{what} would bring another torch: {names}")
    print(f"{Path(what).name} resolves; it adds {len(names)}: {', '.join(names)}", flush=True)


def pip(python: Path) -> list[str | Path]:
    """Return how to call an environment's pip."""
    return [python, "-m", "pip", "--disable-pip-version-check"]


def run(command: Sequence[str | Path], folder: Path, *, quiet: bool = False) -> str:
    """Run a command without this environment's settings, tell how long it took, and return its output if quiet.

    Args:
        command: what to run.
        folder: where.
        quiet: keep standard output for the caller.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    start = time.monotonic()
    done = subprocess.run(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE if quiet else None, text=True
    )
    shown = " ".join(map(str, command[1:]))
    if done.returncode:
        sys.exit(f"exit code {done.returncode}: {shown}")
    print(f"[{time.monotonic() - start:5.1f} s] {shown}", flush=True)
    return done.stdout or ""


if __name__ == "__main__":
    main()
