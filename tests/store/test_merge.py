"""Runs in pieces: a merge is the run in one piece, or it is refused; and never half of it."""

import json
import multiprocessing
import os
import shutil
import signal
import sqlite3
import stat
from contextlib import closing

import pytest

import smoothcert as sc
from pieces import Picky, certified, dataset, drawn, linear, planned, renamed, smoothed
from smoothcert.errors import (
    DamagedRunError,
    FormatError,
    InvalidArgumentError,
    ManifestMismatchError,
    StoreError,
)
from smoothcert.store import export_run
from smoothcert.store.database import RunDatabase
from store.content import content, query

SHARDS = 3


@pytest.fixture(scope="module")
def pieces(tmp_path_factory):
    """A plan, its shards and the run in one piece; never changed by a test."""
    base = tmp_path_factory.mktemp("pieces")
    planned(base / "plan.json")
    for number in range(1, SHARDS + 1):
        drawn(base / "plan.json", f"{number}/{SHARDS}", base / str(number))
    certified(base / "whole")
    return base


def folders(pieces, *numbers):
    return [pieces / str(number) for number in numbers or range(1, SHARDS + 1)]


def seals(folder):
    return query(folder, "SELECT * FROM seals ORDER BY idx")


def change(folder, *statements):
    with closing(sqlite3.connect(folder / "run.sqlite")) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def test_a_merged_run_is_the_run_in_one_piece(pieces, tmp_path):
    merged = sc.merge_runs(folders(pieces, 2, 3, 1), tmp_path / "merged")
    whole = sc.Run.open(pieces / "whole")
    assert content(tmp_path / "merged") == content(pieces / "whole")
    columns = [name for name in merged.columns if name != "seconds"]
    assert [merged.columns[name] for name in columns] == [whole.columns[name] for name in columns]
    frames = [json.loads(export_run(run, "json")) for run in (merged, whole)]
    for row in frames[0] + frames[1]:
        del row["seconds"]
    assert frames[0] == frames[1]
    assert merged.is_complete
    assert [path.name for path in (tmp_path / "merged").iterdir()] == ["run.sqlite"]
    assert stat.S_IMODE((pieces / "plan.json").stat().st_mode) == 0o600


def test_a_merged_run_passes_its_audit_and_a_changed_one_does_not(pieces, tmp_path):
    sc.merge_runs(folders(pieces), tmp_path / "merged")
    how = {"model": smoothed(), "dataset": dataset(), "workers": 1, "fraction": 1.0}
    report = sc.audit(tmp_path / "merged", **how)
    assert report.trust.name == "TRUSTED", report.line
    assert report.images == 12
    # Each shard is what it says it is, and no more.
    report = sc.audit(pieces / "2", **how)
    assert report.trust.name == "TRUSTED", report.line
    assert "all 4 of the images that the run lists for shard 2/3" in report.line
    change(tmp_path / "merged", "UPDATE certificates SET radius = radius * 2 WHERE idx = 3")
    assert sc.audit(tmp_path / "merged", **how).trust.name == "NOT_TRUSTED"


def test_overlaps_are_refused(pieces, tmp_path):
    with pytest.raises(StoreError, match="overlap: both hold image 0, and 3 more"):
        sc.merge_runs([pieces / "1", pieces / "whole"], tmp_path / "merged")
    with pytest.raises(InvalidArgumentError, match="given twice"):
        sc.merge_runs([pieces / "1", pieces / ".." / pieces.name / "1"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


def test_gaps_are_named_and_may_be_filled_later(pieces, tmp_path):
    out = tmp_path / "merged"
    with pytest.raises(StoreError, match=r"4 images are in none of these runs \(1, 4, 7, 10\); .* shard 2/3"):
        sc.merge_runs(folders(pieces, 1, 3), out)
    assert not out.exists()
    partial = sc.merge_runs(folders(pieces, 1, 3), out, allow_gaps=True)
    assert (len(partial), partial.missing) == (8, 4)
    certified(out, resume=True)
    assert content(out) == content(pieces / "whole")
    again = shutil.copytree(pieces / "3", tmp_path / "3")
    change(again, "DELETE FROM certificates WHERE idx = 11")
    with pytest.raises(
        StoreError, match=r"1 image is in none .* \(11\); every shard is among them, but not finished"
    ):
        sc.merge_runs([*folders(pieces, 1, 2), again], tmp_path / "other")


@pytest.mark.parametrize(
    "field, changes",
    {
        "seed": {"seed": 8},
        "alpha": {"alpha": 0.01},
        "procedure.n": {"procedure": sc.FixedSample(n0=20, n=65)},
        "model": {"model": linear(1)},
        "engine": {"engine": "eager"},
    }.items(),
)
def test_other_plans_are_refused_by_the_field(field, changes, pieces, tmp_path):
    """The unsound twin: votes of another seed or model would be taken for those of this one."""
    model = changes.get("model")
    other = {key: value for key, value in changes.items() if key != "model"}
    planned(tmp_path / "plan.json", model, **other)
    drawn(tmp_path / "plan.json", "1/3", tmp_path / "other", model)
    with pytest.raises(ManifestMismatchError, match=rf"not of one plan: .*{field}") as refusal:
        sc.merge_runs([*folders(pieces, 2, 3), tmp_path / "other"], tmp_path / "merged")
    assert "'7'" not in str(refusal.value)  # the secret seed is not told
    assert not (tmp_path / "merged").exists()


def test_a_manifest_that_was_made_equal_does_not_help_a_foreign_shard(pieces, tmp_path):
    """Its seals are about the manifest under which its votes were drawn."""
    planned(tmp_path / "plan.json", seed=8)
    drawn(tmp_path / "plan.json", "1/3", tmp_path / "other")
    change(tmp_path / "other", "UPDATE manifest SET value = '\"7\"' WHERE field = 'seed'")
    with pytest.raises(DamagedRunError, match="image 0 was changed after it was written"):
        sc.merge_runs([*folders(pieces, 2, 3), tmp_path / "other"], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE certificates SET radius = radius + 0.01 WHERE idx = 4",
        "UPDATE votes SET packed = (SELECT packed FROM votes WHERE idx = 7) WHERE idx = 4",
        "DELETE FROM seals WHERE idx = 4",
        "UPDATE counts SET drawn = 65 WHERE idx = 4 AND position = 1",
    ],
)
def test_a_changed_shard_is_refused(statement, pieces, tmp_path):
    changed = shutil.copytree(pieces / "2", tmp_path / "2")
    change(changed, statement)
    with pytest.raises(DamagedRunError, match="image 4 was changed"):
        sc.merge_runs([*folders(pieces, 1, 3), changed], tmp_path / "merged")
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    "edit, words",
    [
        (lambda plan: plan["manifest"].update(seed="8"), "changed after it was written"),
        (lambda plan: plan["manifest"].update(indices=[0, 1]), "changed after it was written"),
        (lambda plan: plan["manifest"].update(alpha=2.0), "alpha"),
        (lambda plan: plan["manifest"].pop("noise"), "noise"),
        (lambda plan: plan.update(kind="a recipe"), "no plan"),
        (lambda plan: plan.update(format=2), "another version"),
    ],
)
def test_a_changed_plan_is_refused(edit, words, pieces, tmp_path):
    plan = json.loads((pieces / "plan.json").read_text())
    edit(plan)
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    with pytest.raises(FormatError, match=words):
        drawn(tmp_path / "plan.json", "1/3", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_plan_is_not_written_over(pieces):
    with pytest.raises(StoreError, match="is there already"):
        planned(pieces / "plan.json")


def test_shards_of_another_model_data_or_version_are_refused(pieces, tmp_path, monkeypatch):
    plan = pieces / "plan.json"
    with pytest.raises(ManifestMismatchError, match=r"cannot draw a shard of .*model was"):
        drawn(plan, "1/3", tmp_path / "a", linear(1))
    other = renamed(dataset(), labels=dataset().labels[::-1].copy())
    with pytest.raises(ManifestMismatchError, match=r"dataset\.digest was"):
        drawn(plan, "1/3", tmp_path / "a", data=other)
    with monkeypatch.context() as patch:
        patch.setattr("smoothcert.engines.versions._version", lambda name: "0.0")
        with pytest.raises(ManifestMismatchError, match=r"versions\.torch was .* and is now '0\.0'"):
            drawn(plan, "1/3", tmp_path / "a")
    for shard in ("0/3", "4/3", "3", "1/3/5", 2):
        with pytest.raises(InvalidArgumentError, match="shard must be I/N"):
            drawn(plan, shard, tmp_path / "a")
    with pytest.raises(InvalidArgumentError, match="13/13 has no image, because the plan has 12"):
        drawn(plan, "13/13", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_shard_is_continued_as_that_shard_alone(pieces, tmp_path):
    out = shutil.copytree(pieces / "1", tmp_path / "1")
    with pytest.raises(ManifestMismatchError, match="holds shard 1/3 of a plan, and shard 2/3"):
        drawn(pieces / "plan.json", "2/3", out, resume=True)
    with pytest.raises(ManifestMismatchError, match="holds shard 1/3 of a plan, and a whole run"):
        certified(out, resume=True)
    assert drawn(pieces / "plan.json", "1/3", out, resume=True).is_complete


def test_a_run_is_extended_by_more_images(pieces, tmp_path):
    first = certified(tmp_path / "first", indices=range(5))
    more = certified(tmp_path / "more", seed=None, indices=range(9), extends=tmp_path / "first")
    assert more.column("idx") == [5, 6, 7, 8]
    planned(tmp_path / "plan.json", seed=None, extends=tmp_path / "first", indices=[*range(9, 12)])
    drawn(tmp_path / "plan.json", "1/1", tmp_path / "last")
    sc.merge_runs([tmp_path / name for name in ("more", "first", "last")], tmp_path / "merged")
    assert content(tmp_path / "merged") == content(pieces / "whole")
    assert seals(tmp_path / "merged") != [*seals(tmp_path / "first"), *seals(tmp_path / "more")]
    how = {"model": smoothed(), "dataset": dataset(), "workers": 1}
    assert sc.audit(tmp_path / "merged", **how).trust.name == "TRUSTED"
    assert len(first) == 5
    with pytest.raises(InvalidArgumentError, match="lists all of the chosen images already"):
        certified(extends=tmp_path / "first", indices=range(3))
    with pytest.raises(ManifestMismatchError, match=r"cannot extend .*alpha is 0\.001 and 0\.01"):
        certified(seed=None, extends=tmp_path / "first", alpha=0.01)
    certified(tmp_path / "twice", indices=range(4, 12))
    with pytest.raises(StoreError, match="different plans that both list image 4"):
        sc.merge_runs([tmp_path / "first", tmp_path / "twice"], tmp_path / "other")


def test_failures_are_merged_and_give_way_to_certificates(pieces, tmp_path, capsys):
    planned(tmp_path / "plan.json", Picky())
    for number in (1, 2):
        drawn(tmp_path / "plan.json", f"{number}/2", tmp_path / str(number), Picky())
    merged = sc.merge_runs(folders(tmp_path, 1, 2), tmp_path / "merged")
    assert tuple(merged.failures) == (2, 5)
    assert len(merged) == 12
    failed = shutil.copytree(pieces / "1", tmp_path / "failed")
    change(
        failed,
        *(f"DELETE FROM {table} WHERE idx = 0" for table in ("certificates", "counts", "votes", "seals")),
        "INSERT INTO failures VALUES (0, 0, 'the machine was ill')",
    )
    drawn(pieces / "plan.json", "1/12", tmp_path / "again")
    sc.merge_runs(
        [failed, tmp_path / "again", *folders(pieces, 2, 3)], tmp_path / "whole", show_progress=True
    )
    assert content(tmp_path / "whole") == content(pieces / "whole")
    told = capsys.readouterr().err
    assert (
        f"1 image of {failed} failed there and took a certificate from another run (image 0: the machine"
        in told
    )


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
@pytest.mark.parametrize("when", ["add_stored", "close"])
def test_killed_in_the_middle_of_a_merge_there_is_no_run(when, pieces, tmp_path, monkeypatch):
    out, real = tmp_path / "merged", getattr(RunDatabase, when)

    def deadly(self, *args, **options):
        if self.folder is not None and self.folder.is_relative_to(out):
            os.kill(os.getpid(), signal.SIGKILL)
        return real(self, *args, **options)

    with monkeypatch.context() as patch:
        patch.setattr(RunDatabase, when, deadly)
        child = multiprocessing.get_context("fork").Process(target=sc.merge_runs, args=(folders(pieces), out))
        child.start()
        child.join()
    assert child.exitcode == -signal.SIGKILL
    assert not (out / "run.sqlite").exists()
    with pytest.raises(StoreError, match="is not a run folder"):
        sc.Run.open(out)
    sc.merge_runs(folders(pieces), out)
    assert content(out) == content(pieces / "whole")
    assert [path.name for path in out.iterdir()] == ["run.sqlite"]


def test_places_that_cannot_take_a_merge(pieces, tmp_path):
    with pytest.raises(StoreError, match="already holds a run"):
        sc.merge_runs(folders(pieces), pieces / "whole")
    with pytest.raises(StoreError, match="is not a run folder"):
        sc.merge_runs([tmp_path], tmp_path / "merged")
    with pytest.raises(InvalidArgumentError, match="at least one"):
        sc.merge_runs([], tmp_path / "merged")
    assert list(tmp_path.iterdir()) == []


def test_procedures_that_look_often_merge_alike(tmp_path):
    how = {"procedure": sc.Sequential(radii=(0, 0.02, 0.05), max_samples=2_000)}
    planned(tmp_path / "plan.json", **how)
    for number in (1, 2):
        drawn(tmp_path / "plan.json", f"{number}/2", tmp_path / str(number))
    sc.merge_runs(folders(tmp_path, 1, 2), tmp_path / "merged")
    certified(tmp_path / "whole", **how)
    assert content(tmp_path / "merged") == content(tmp_path / "whole")
