"""A tiny table, made again in this process."""

import pytest

from smoothcert.training import train
from smoothcert.workflows.reproducing import trainings
from tiny_table import TINY


@pytest.fixture
def tiny(tmp_path):
    """The file of a table that takes seconds."""
    path = tmp_path / "tiny.yaml"
    path.write_text(TINY)
    return str(path)


@pytest.fixture
def here(monkeypatch):
    """Train in this process: a new one imports torch again, for seconds. Returns the names of what was trained."""
    trained = []

    def train_here(config, out, *, resume, show_progress):
        trained.append(out.name)
        train(config, out, resume=resume, show_progress=show_progress)

    monkeypatch.setattr(trainings, "train_in_process", train_here)
    return trained
