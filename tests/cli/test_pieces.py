"""Runs in pieces from the command line: plan, shards, merge, status, and the exit codes of what is not whole."""

import json

import numpy as np
import pytest
from typer.testing import CliRunner

import smoothcert as sc
from small_networks import save_network
from smoothcert.cli.app import app
from smoothcert.errors import InvalidArgumentError

FACTORY = """
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = torch.nn.Linear(4, 3)
        torch.nn.init.eye_(self.head.weight)
        torch.nn.init.zeros_(self.head.bias)

    def forward(self, x):
        mean = x.flatten(1).mean(1)
        if bool(((mean > 0.15) & (mean < 0.45)).any()):
            raise RuntimeError("too dark")
        return self.head(x.flatten(1))


def make():
    return Net()
"""


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return save_network(tmp_path_factory.mktemp("cli-pieces") / "model", seed=3)


def run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def test_from_a_plan_to_a_merged_run(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = ("--first", 6, "--n0", 20, "--n", 64, "--workers", 1)
    said = run("certify", model, *how, "--plan", "plan.json").stdout
    assert "6 images" in said
    assert "--shard 1/6" in " ".join(said.split())  # no more shards than images
    assert "holds the secret seed" in " ".join(said.split())
    for number in (1, 2):
        out = f"shard-{number}"
        assert (
            run(
                "certify", "--from", "plan.json", "--shard", f"{number}/2", "--out", out, "--workers", 1
            ).exit_code
            == 0
        )
    merged = run("merge", "shard-1", "shard-2", "--out", "whole")
    assert merged.exit_code == 0
    assert run("audit", "whole", "--workers", 1).stdout.startswith("whole can be trusted")
    seed = json.loads((tmp_path / "plan.json").read_text())["manifest"]["seed"]
    run("certify", model, *how, "--seed", seed, "--out", "one")
    radii = [sc.Run.open(tmp_path / name).column("radius") for name in ("whole", "one")]
    assert radii[0] == radii[1]
    told = json.loads(run("status", "shard-1", "whole", "--json").stdout)
    assert [(one["state"], one["done"], one["shard"]) for one in told] == [
        ("finished", 3, "1/2"),
        ("finished", 6, None),
    ]
    assert seed not in json.dumps(told)


@pytest.mark.parametrize("words", [("models/a",), ("net.py:make", "--first", 3), ("runs", "models/a")])
def test_a_model_that_ray_took_for_an_address_is_told(words):
    with pytest.raises(
        InvalidArgumentError, match=r"--ray took .* if it is the model or the run, write that first"
    ):
        run("certify", "--ray", *words, "--out", "run")


def test_stopped_by_a_limit_it_says_so_and_how_to_go_on(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    how = ("--first", 3, "--n", 2_000, "--workers", 1, "--batch-size", 64, "--out", "run")
    stopped = run("certify", model, *how, "--max-votes", 2_500)
    assert stopped.exit_code == 3
    text = " ".join(stopped.stderr.split())
    assert "stopped by its limit" in text
    command = text.split("continue with: smoothcert ")[1].split()
    assert command[0] == "certify"
    assert "--seed" not in command
    assert run(*command, "--workers", 1).exit_code == 0
    assert sc.Run.open(tmp_path / "run").is_complete


def test_failed_images_are_exit_code_1_until_they_are_answered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").write_text(FACTORY)
    images = np.full((4, 4), 0.9, dtype=np.float32)
    images[2] = 0.3
    np.savez(tmp_path / "mine.npz", images=images, labels=np.arange(4) % 3)
    how = ("--dataset", "mine.npz", "--sigma", 0.05, "--n", 64, "--workers", 1, "--out", "run")
    failed = run("certify", "net.py:make", *how)
    assert failed.exit_code == 1
    assert "failed on 1 of 4 images" in " ".join(failed.stdout.split())
    assert "image 2: RuntimeError: too dark" in " ".join(failed.stdout.split())
    assert run("certify", "net.py:make", *how, "--resume").exit_code == 1
    assert run("status", "run").stdout.count("image 2 failed") == 1
    run("certify", "net.py:make", *how[:-2], "--plan", "plan.json")
    with pytest.raises(InvalidArgumentError, match=r"built by net\.py:make, whose code runs if you name it"):
        run("certify", "--from", "plan.json", "--out", "shard")
    shard = run(
        "certify", "net.py:make", "--from", "plan.json", "--shard", "2/2", "--out", "shard", "--workers", 1
    )
    assert shard.exit_code == 0


@pytest.mark.parametrize(
    "words, sentence",
    [
        (("--shard", "1/2", "--out", "x"), "--shard is a share of a plan"),
        (
            ("--from", "plan.json", "--n", "50", "--out", "x"),
            "--procedure or what belongs to it does not go with --from",
        ),
        (("--from", "plan.json", "--seed", "5", "--out", "x"), "--seed does not go with --from"),
        (
            ("--from", "plan.json", "--sigma", "0.5", "--out", "x"),
            "--noise or what belongs to it does not go",
        ),
        (("--from", "plan.json", "--first", "3", "--out", "x"), "choosing images does not go with --from"),
        (("--from", "plan.json", "--with-members", "--out", "x"), "--with-members does not go with --from"),
        (("--from", "plan.json"), "--out is missing"),
        (("--out", "x"), "MODEL is missing"),
    ],
)
def test_options_that_do_not_go_together(words, sentence, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InvalidArgumentError, match=sentence):
        run("certify", *words)
    assert list(tmp_path.iterdir()) == []
