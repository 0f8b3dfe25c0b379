"""On a real Ray cluster: workers that die, hang, fail, run out of memory or vote otherwise change no vote."""

import contextlib
import os
import platform
import re
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import smoothcert as sc
from marks import needs_ray
from ray_models import Bright
from smoothcert.engines import versions_for
from smoothcert.errors import WorkerError
from smoothcert.execution.cluster.local_cluster import sessions_folder
from smoothcert.sampling import Chunk
from store.content import content, query

pytestmark = [pytest.mark.slow, needs_ray]

IMAGE = torch.full((1, 4, 4), 0.31)
JOBS = [[Chunk(IMAGE, 0, "estimate", job * 2 + part, 64) for part in range(2)] for job in range(6)]


def source(model):
    classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=2)
    return classifier.certification(
        sc.FixedSample(n0=10, n=1_000), alpha=0.001, seed=5, engine="eager", example=IMAGE
    )


def drawn(pool):
    """The votes of all jobs, in their order."""
    for number, chunks in enumerate(JOBS):
        pool.submit([number] * len(chunks), chunks)
    votes = {}
    while pool.outstanding:
        for number, part in pool.collect():
            votes.setdefault(number, []).append(part.classes)
    return [np.concatenate(votes[number], axis=1).tolist() for number in range(len(JOBS))]


def here(model):
    sampler = source(model).sampler(64)
    return [
        np.concatenate([part.classes for part in sampler.draw(chunks)], axis=1).tolist() for chunks in JOBS
    ]


@pytest.mark.parametrize("happening", ["die", "hang", "exhaust"])
def test_the_votes_of_a_lost_worker_are_drawn_by_others(ray, tmp_path, happening, monkeypatch):
    if happening == "hang":
        monkeypatch.setattr(ray, "patience", 4.0)  # what a test can wait for
    model = Bright(tmp_path)
    with ray.pool(source(model), 64) as pool:
        model.tell(happening)
        votes = drawn(pool)
        assert model.has_happened(happening)
        assert pool.lost == 1 or (happening == "hang" and pool.lost > 1)  # a busy machine hangs too
        assert f"{pool.lost} lost" in pool.note
    assert votes == here(model)
    assert len({tuple(row) for job in votes for row in job}) > 1


def test_an_error_of_the_model_is_raised_as_it_is_here(ray, tmp_path):
    model = Bright(tmp_path)
    pool = ray.pool(source(model), 64)

    def failing():
        with pool:
            model.tell("fail")
            drawn(pool)

    with pytest.raises(ArithmeticError, match="seven is odd"):
        failing()
    assert pool.lost == 0


def test_a_job_that_every_worker_is_lost_at_is_given_up_by_name(ray, tmp_path, monkeypatch):
    monkeypatch.setattr("smoothcert.execution.cluster.ray_pool._MOST_TRIES", 1)
    model = Bright(tmp_path)

    def dying():
        with ray.pool(source(model), 64) as pool:
            model.tell("die")
            drawn(pool)

    with pytest.raises(WorkerError, match=r"lost drawing votes of image 0: .* resume"):
        dying()


def test_workers_of_another_release_are_refused_by_name(ray, tmp_path, monkeypatch):
    """Seen from here the release here is the other one; nobody is left, so the run cannot go on."""
    real = versions_for(None)
    monkeypatch.setattr(
        "smoothcert.execution.cluster.worker_setup.versions_for", lambda package: {**real, "torch": "9.9"}
    )
    told = rf"{platform.node()} \(process \d+\): it has torch {re.escape(real['torch'])} where the driver has 9\.9"
    with pytest.raises(WorkerError, match=told), ray.pool(source(Bright(tmp_path)), 64):
        pass


def test_workers_that_vote_otherwise_are_refused_by_name(ray, tmp_path, monkeypatch):
    """The model reads a setting that only this process has: the same weights, and another classifier."""
    monkeypatch.setenv("BRIGHT_OFFSET", "0.05")
    model = Bright(tmp_path, reads_environment=True)
    told = rf"{platform.node()} \(process \d+\): it votes otherwise than the driver on \d+ of 64 noisy copies"
    with pytest.raises(WorkerError, match=told), ray.pool(source(model), 64):
        pass


def wait_until(done, seconds=300):
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it did not come about in time"
        time.sleep(0.05)


def processes_naming(text):
    """Processes that were started with a text among their arguments or settings."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            told = (entry / "cmdline").read_bytes() + (entry / "environ").read_bytes()
            found += [entry.name] if text.encode() in told else []
    return found


def test_a_killed_driver_leaves_nothing_and_its_run_is_continued_here(model_folder, tmp_path):
    """The mark in the settings is inherited by every process that the driver has started, Ray's too."""
    mark, out = f"MARK={tmp_path}", tmp_path / "run"
    options = f"--first 30 --n 3000 --seed 5 --engine torch --out {out} --ray --workers 1"
    driver = subprocess.Popen(
        [sys.executable, "-m", "smoothcert", "certify", str(model_folder), *options.split()],
        env={**os.environ, "MARK": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    wait_until(lambda: finished_images(out) >= 2)
    sessions = {path for path in sessions_folder().iterdir() if path.name.startswith(f"{driver.pid}-")}
    assert len(sessions) == 1
    assert len(processes_naming(mark)) > 4
    driver.kill()
    driver.wait()
    wait_until(lambda: not processes_naming(mark), seconds=20)
    assert not any(path.exists() for path in sessions)
    classifier, digits = sc.load_classifier(model_folder), sc.load_dataset("digits")
    run = {"seed": 5, "engine": "torch", "indices": range(30), "procedure": sc.FixedSample(n=3000)}
    assert 2 <= finished_images(out) < 30
    sc.certify(classifier, digits, **run, out=out, resume=True)
    sc.certify(classifier, digits, **run, out=tmp_path / "undisturbed")
    assert content(out) == content(tmp_path / "undisturbed")


def finished_images(out):
    try:
        return query(out, "SELECT COUNT(*) FROM certificates")[0][0]
    except sqlite3.OperationalError:  # no file, no table, or locked for a moment
        return 0
