"""An image that the model cannot answer: recorded, counted as not certified, tried again; and the others as ever."""

import json

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

import smoothcert as sc
from pieces import DARK, PROCEDURE, Picky, certified, dataset, linear, smoothed
from smoothcert.cli.app import app
from smoothcert.errors import ModelOutputError
from smoothcert.store import format_tsv
from store.content import query

VOTES = "SELECT idx, phase, packed FROM votes ORDER BY idx, phase"
ANSWERED = [index for index in range(12) if index not in DARK]


@pytest.fixture(scope="module")
def failed(tmp_path_factory):
    """The folder of a run with two images on which the model failed."""
    out = tmp_path_factory.mktemp("failed") / "run"
    certified(out, Picky())
    return out


@pytest.mark.parametrize("batch_size", [16, 64, 640])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", ["raises", "is no number"])
def test_the_votes_of_the_others_do_not_change(how, workers, batch_size, tmp_path, monkeypatch):
    monkeypatch.setattr("smoothcert.sampling.pool.WORTH_SECONDS", 0.0)  # two workers are processes
    run = certified(tmp_path / "a", Picky(how), workers=workers, batch_size=batch_size)
    certified(tmp_path / "b", indices=ANSWERED)
    assert query(tmp_path / "a", VOTES) == query(tmp_path / "b", VOTES)
    assert tuple(run.failures) == DARK
    reason = "RuntimeError: too dark" if how == "raises" else "ModelOutputError: the model answered"
    assert all(text.startswith(reason) for text in run.failures.values())
    assert not run.is_complete
    assert run.missing == 0


def test_denominators_do_not_shrink(failed, tmp_path):
    run, whole = sc.Run.open(failed), certified(indices=ANSWERED)
    radii = [0, 0.01, 0.1]
    np.testing.assert_allclose(run.certified_accuracy(radii), whole.certified_accuracy(radii) * 10 / 12)
    assert run.average_radius() == pytest.approx(whole.average_radius() * 10 / 12)
    lines = [line.split("\t") for line in format_tsv(run).splitlines()]
    assert len(lines) == 13
    assert [line[:5] for line in lines[1:] if int(line[0]) in DARK] == [
        [str(index), str(index % 3), "-1", "0.000000", "0"] for index in DARK
    ]
    frame = run.to_frame().set_index("idx")
    assert frame.loc[list(DARK), "outcome"].tolist() == ["FAILED", "FAILED"]
    assert "2 of them failed" in repr(run)


def test_reports_say_how_many_failed_and_do_not_count_them_as_savings(failed):
    said = CliRunner().invoke(app, ["analyze", str(failed)]).stdout
    assert "the model failed on 2 of 12 images, which count as not certified" in " ".join(said.split())
    told = json.loads(CliRunner().invoke(app, ["analyze", str(failed), "--json"]).stdout)[0]
    assert (told["images"], told["failed_images"], told["missing_images"]) == (12, 2, 0)
    assert told["samples_per_image"] == 84
    assert told["abstained"] >= 2 / 12
    assert min(told["p_hat_quantiles"].values()) > 0
    exported = CliRunner().invoke(app, ["export", str(failed), "--format", "json"])
    assert [row["samples"] for row in json.loads(exported.stdout) if row["idx"] in DARK] == [0, 0]
    assert "failed on 2 of 12" in " ".join(exported.stderr.split())


def test_an_audit_trusts_the_rest_and_tells(failed, tmp_path):
    report = sc.audit(failed, model=Picky(), dataset=dataset(), workers=1)
    assert report.findings == []
    assert "lists, but for 2 on which the model failed, follow" in report.line
    assert any("failed on 2 images (2, 5)" in note for note in report.notes)
    assert report.to_json()["failed_images"] == 2


def test_resume_tries_only_those_again(failed, tmp_path, monkeypatch):
    out = tmp_path / "run"
    certified(out, Picky())
    before, asked = query(out, VOTES), []
    sampling = sc.certificates.certification.Certification.sampling

    def watched(self, index, image, saved=None):
        asked.append(index)
        return sampling(self, index, image, saved)

    monkeypatch.setattr("smoothcert.certificates.certification.Certification.sampling", watched)
    assert tuple(certified(out, Picky(), resume=True).failures) == DARK
    assert asked == list(DARK)
    assert query(out, VOTES) == before
    # A machine that can answer them: the same model by its identity, so the others stay as they are.
    monkeypatch.setattr(Picky, "forward", Picky.forward)  # put back in the end
    honest, model = linear(), Picky()
    model.forward = lambda batch: honest(batch)
    with pytest.raises(sc.errors.ManifestMismatchError, match="model was"):
        certified(out, model, resume=True)


def test_what_failed_once_and_is_answered_now_leaves_no_failure(tmp_path, monkeypatch):
    from smoothcert.sampling import Sampler

    draw, out = Sampler.draw, tmp_path / "run"

    def failing(self, chunks):
        if any(chunk.index in DARK for chunk in chunks):
            raise OSError("the disk with the second half of the weights is away")
        return draw(self, chunks)

    with monkeypatch.context() as patch:
        patch.setattr(Sampler, "draw", failing)
        assert tuple(certified(out).failures) == DARK
    assert certified(out, resume=True).is_complete
    certified(tmp_path / "whole")
    assert query(out, VOTES) == query(tmp_path / "whole", VOTES)
    assert query(out, "SELECT * FROM failures") == []


def test_an_error_that_every_image_raises_stops_the_run_at_once(tmp_path):
    calls = []

    def breaks(batch):
        calls.append(len(batch))
        if len(calls) > 40:
            raise RuntimeError("the device is gone")
        return linear()(batch)

    with pytest.raises(RuntimeError, match="the device is gone"):
        certified(tmp_path / "run", breaks, procedure=sc.FixedSample(n0=64, n=6_400), batch_size=64)
    assert query(tmp_path / "run", "SELECT * FROM failures") == []


@pytest.mark.parametrize("workers", [1, 2])
def test_memory_that_runs_out_is_no_fault_of_an_image(tmp_path, workers):
    class Large(Picky):
        def forward(self, batch):
            try:
                return super().forward(batch)
            except RuntimeError:
                raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes") from None

    with pytest.raises(RuntimeError, match="allocate memory"):
        certified(tmp_path / "run", Large(), workers=workers)
    assert query(tmp_path / "run", "SELECT * FROM failures") == []


def test_what_the_probe_refuses_leaves_nothing(tmp_path):
    def nan(batch):
        return torch.full((len(batch), 3), torch.nan)

    with pytest.raises(ModelOutputError, match="NaN"):
        certified(tmp_path / "run", nan)
    assert not (tmp_path / "run").exists()


def test_a_fault_beyond_the_decision_is_none(tmp_path, monkeypatch):
    """Chunks are drawn ahead; what lies behind the look that decides must not depend on how far ahead."""
    from smoothcert.sampling import Sampler

    draw = Sampler.draw
    procedure = sc.Sequential(radius=0.01, max_samples=20_000)
    whole = certified(procedure=procedure)
    last = {
        index: samples // 64
        for index, samples in zip(whole.column("idx"), whole.column("samples"), strict=True)
    }

    def failing(self, chunks):
        if any(chunk.number > last[chunk.index] and chunk.phase != "control" for chunk in chunks):
            raise RuntimeError("too far")
        return draw(self, chunks)

    monkeypatch.setattr(Sampler, "draw", failing)
    run = certified(procedure=procedure)
    assert not run.failures
    assert run.column("samples") == whole.column("samples")


def test_a_panel_fails_for_all_of_its_classifiers(tmp_path):
    panel = sc.Panel(sc.VotingEnsemble([Picky(), linear(1)]), names=["a", "b", "both"])
    outs = {name: tmp_path / name for name in panel.names}
    runs = sc.certify_panel(smoothed(panel), dataset(), outs=outs, procedure=PROCEDURE, seed=7, workers=1)
    assert [tuple(run.failures) for run in runs.values()] == [DARK] * 3
    alone = certified(tmp_path / "alone", linear(1), indices=ANSWERED)
    assert runs["b"].results.radius[ANSWERED].tolist() == alone.results.radius.tolist()
    assert query(tmp_path / "b", VOTES) == query(tmp_path / "alone", VOTES)


@pytest.mark.parametrize(
    "row, words",
    [
        ((3, 0, "boom"), "image 3 has a certificate, and failed"),
        ((99, 0, "boom"), "image 99 failed, but is not listed"),
        ((2, -4, "boom"), "label of image 2 is -4"),
        ((2, 0, 17), "reason of image 2"),
    ],
)
def test_forged_failures_are_refused(row, words, failed, tmp_path):
    import shutil
    import sqlite3
    from contextlib import closing

    folder = shutil.copytree(failed, tmp_path / "forged")
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        connection.execute(
            "INSERT OR REPLACE INTO failures VALUES (?, ?, CAST(? AS BLOB))"
            if row[2] == 17
            else "INSERT OR REPLACE INTO failures VALUES (?, ?, ?)",
            row,
        )
    with pytest.raises(sc.errors.StoreError, match=words):
        sc.Run.open(folder)
