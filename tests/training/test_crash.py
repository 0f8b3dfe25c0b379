"""A training that is killed, at whatever moment, continues and ends with the bits of one that was not."""

import json
import signal
import subprocess
import sys
import time

import pytest

from smoothcert.folders import load_checkpoint

COMMAND = (sys.executable, "-m", "smoothcert", "train", "digits-consistency", "--epochs", "4", "--seed", "1")


def epochs_done(folder):
    """How many epochs the metrics file tells of."""
    path = folder / "metrics.jsonl"
    return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.mark.slow
def test_killed_trainings_end_with_the_same_bits(tmp_path):
    subprocess.run([*COMMAND, "--out", tmp_path / "whole"], check=True, capture_output=True, timeout=300)
    killed = 0
    for wanted in (1, 3):  # epochs after which the command is killed, in the middle of the next one
        process = subprocess.Popen([*COMMAND, "--out", tmp_path / "parts"], stderr=subprocess.DEVNULL)
        while process.poll() is None and epochs_done(tmp_path / "parts") < wanted:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        killed += process.wait() == -signal.SIGKILL
    assert killed == 2
    assert not (tmp_path / "parts" / "model.json").exists()
    subprocess.run([*COMMAND, "--out", tmp_path / "parts"], check=True, capture_output=True, timeout=300)
    for folder in ("", "best"):
        cards = [load_checkpoint(tmp_path / name / folder)[1] for name in ("whole", "parts")]
        assert cards[0].digest == cards[1].digest
    lines = [json.loads(line) for line in (tmp_path / "parts" / "metrics.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4]
    leftovers = {path.name for path in (tmp_path / "parts").iterdir()}
    assert leftovers == {"best", "metrics.jsonl", "model.json", "model.safetensors"}
