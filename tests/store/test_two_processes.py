"""Two processes, one run folder: the second is refused before any work, and a dead one stands in nobody's way."""

import subprocess
import sys

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import StoreError
from smoothcert.store.database import RunDatabase
from store.content import content

DATA = sc.Dataset.from_arrays(torch.tensor([[0.9], [0.2]]).numpy(), [1, 0])
ENDLESS = """
import sys, time
import smoothcert as sc
import torch

data = sc.Dataset.from_arrays(torch.tensor([[0.9], [0.2]]).numpy(), [1, 0])

def model(batch):
    if len(asked) == 20:
        print("at work", flush=True)
        sys.stdin.read()
    asked.append(len(batch))
    score = batch[:, 0] - 0.5
    return torch.stack([-score, score], dim=1)

asked = []
classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.25), 2)
sc.certify(classifier, data, procedure=sc.FixedSample(n=20_000), seed=1, workers=1, batch_size=64, out=sys.argv[1])
"""


def answer(batch):
    score = batch[:, 0] - 0.5
    return torch.stack([-score, score], dim=1)


def certify(out, model=answer, **how):
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.25), 2)
    return sc.certify(classifier, DATA, procedure=sc.FixedSample(n=500), seed=1, workers=1, out=out, **how)


@pytest.mark.slow
def test_a_second_process_is_refused_at_the_start_and_a_killed_one_forgotten(tmp_path):
    out = tmp_path / "run"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", ENDLESS, str(out)], **pipes) as other:
        assert other.stdout.readline() == "at work\n"

        def untouched(batch):
            raise AssertionError("the model was asked although the folder is taken")

        for resume in (False, True):
            with pytest.raises(StoreError, match=f"another certification is at work in {out}; wait for it"):
                certify(out, untouched, resume=resume)
        assert len(sc.Run.open(out)) == 0  # who reads is not kept out
        other.kill()
        other.wait()
    with pytest.raises(StoreError, match="already holds a run"):
        certify(out)
    with pytest.raises(StoreError, match="cannot resume"):  # another model and n: the lock is no hindrance
        certify(out, resume=True)


def test_of_two_that_begin_at_once_the_first_goes_on(tmp_path, monkeypatch):
    """The second begins while the first has looked at the folder and stored nothing yet."""
    out, begin, said = tmp_path / "run", RunDatabase.begin, []

    def meanwhile(self, *arguments):
        with pytest.raises(StoreError) as refusal:
            certify(out)
        said.append(str(refusal.value))
        return begin(self, *arguments)

    monkeypatch.setattr(RunDatabase, "begin", meanwhile)
    certify(out)
    assert said == [
        f"another certification is at work in {out}; wait for it, stop it, or choose another folder"
    ]
    monkeypatch.undo()
    certify(tmp_path / "alone")
    assert content(out) == content(tmp_path / "alone")
    assert sorted(path.name for path in out.iterdir()) == ["run.sqlite"]


def test_a_refusal_leaves_no_folder(tmp_path):
    with pytest.raises(sc.errors.InvalidArgumentError):
        certify(tmp_path / "a" / "run", indices=[9])
    assert list(tmp_path.iterdir()) == []
