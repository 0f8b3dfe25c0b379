"""The container file without a builder: what it copies is there, and what it runs would start."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from smoothcert.serve.http.guards import _OPEN

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text(encoding="utf-8")


def instructions():
    """Return (instruction, rest) in order, continued lines joined and comments left out."""
    lines = [line for line in TEXT.splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [tuple(line.split(maxsplit=1)) for line in joined.splitlines() if line.strip()]


STEPS = instructions()


def last(name):
    return next(rest for step, rest in reversed(STEPS) if step == name)


def command():
    """Return what the container runs by default."""
    return [*json.loads(last("ENTRYPOINT")), *json.loads(last("CMD"))]


def option(name):
    words = command()
    return words[words.index(name) + 1]


def test_every_source_is_there_and_reaches_the_builder():
    kept = [line for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    sources = [
        source
        for step, rest in STEPS
        if step == "COPY" and not rest.startswith("--from")
        for source in rest.split()[:-1]
    ]
    assert {"src", "pyproject.toml", "constraints.txt"} <= set(sources)
    for source in sources:
        assert (ROOT / source).exists(), source
        assert f"!{source}" in kept, source


def test_what_pyproject_names_is_copied_before_it_is_installed():
    with (ROOT / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    place = next(
        number for number, (step, rest) in enumerate(STEPS) if step == "RUN" and "pip install" in rest
    )
    assert {"-c", "constraints.txt", ".[serve]"} <= set(shlex.split(STEPS[place][1]))
    assert "serve" in project["optional-dependencies"]
    copied = " ".join(rest for step, rest in STEPS[:place] if step == "COPY").split()
    assert {project["readme"], *project["license-files"]} <= set(copied)


def test_python_is_slim_and_one_that_the_package_takes():
    bases = [rest.split()[0] for step, rest in STEPS if step == "FROM"]
    assert set(bases) == {"docker.io/library/python:3.11-slim"}


def test_it_runs_as_nobody_special():
    assert last("USER") not in ("root", "0")
    names = [step for step, _ in STEPS]
    assert names.index("USER") < names.index("CMD")
    assert (
        f"useradd --create-home --uid {last('USER')} smoothcert" in TEXT
    )  # a number, which any host can resolve


def test_the_model_is_made_at_build_time_and_copied_where_it_is_served():
    assert any(step == "RUN" and rest.startswith("smoothcert demo --out .") for step, rest in STEPS)
    assert ("COPY", "--from=build /opt/demo/models /opt/demo/models") in STEPS
    assert command()[:3] == ["smoothcert", "serve", "/opt/demo/models/ensemble"]


def test_the_store_is_a_volume_of_the_user():
    assert [option("--store")] == json.loads(last("VOLUME"))
    assert re.search(rf"install --directory --owner smoothcert .* {option('--store')}", TEXT)


def test_it_is_asked_for_health_where_it_listens_and_without_a_key():
    address, path = re.search(r"http://([\d.:]+)(/\w+)", last("HEALTHCHECK")).groups()
    assert address == f"127.0.0.1:{option('--port')}"
    assert last("EXPOSE") == option("--port")
    assert path in _OPEN


def test_options_are_those_of_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "smoothcert", "serve", "--help"], check=True, capture_output=True, text=True
    ).stdout
    known = set(re.findall(r"--[a-z][a-z-]+", shown))
    assert {word for word in command() if word.startswith("--")} <= known


@pytest.mark.slow
def test_bound_to_the_world_it_starts_with_keys_only(tmp_path, monkeypatch):
    monkeypatch.delenv("SMOOTHCERT_API_KEYS", raising=False)
    assert option("--host") == "0.0.0.0"
    words = [str(tmp_path / "served") if word == option("--store") else word for word in command()]
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "SMOOTHCERT_API_KEYS" in done.stderr
