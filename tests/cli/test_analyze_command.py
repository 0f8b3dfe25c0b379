"""`analyze`: chosen radii, intervals, time against CERTIFY, and what is said beyond what the votes can prove."""

import json
import math

import numpy as np
import pytest
from scipy.stats import beta, norm

import smoothcert as sc
from smoothcert.cli.attack import _radii as attacked_radii


@pytest.fixture(scope="module")
def folders(classifier, digits, tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    procedures = {
        "fixed": sc.FixedSample(n=500),
        "staged": sc.Staged(radius=0.25, stages=(100, 1_000)),
        "many": sc.Sequential(radii=tuple(round(0.03 * i, 2) for i in range(1, 15)), max_samples=640),
    }
    for name, procedure in procedures.items():
        sc.certify(
            classifier, digits, procedure=procedure, seed=3, indices=range(12), workers=1, out=base / name
        )
    return base


def told(smoothcert, *args):
    code, out, err = smoothcert("analyze", *args, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


def test_chosen_radii(smoothcert, folders):
    """All 500 votes prove sigma Phi^-1(.001^(1/500)), and no radius beyond it."""
    run = sc.Run.open(folders / "fixed")
    most = run.manifest["noise"]["sigma"] * norm.ppf(0.001 ** (1 / 500))
    found = told(smoothcert, folders / "fixed", "--radii", f"0.5,0,0.1,0.1,{most * 1.001}")[0]
    keys = list(found["certified_accuracy"])
    assert keys[:3] == ["0.00", "0.10", "0.50"]
    assert len(keys) == 4
    shares = list(found["certified_accuracy"].values())
    assert shares[:3] == run.certified_accuracy([0, 0.1, 0.5]).tolist()
    assert shares[3] is None
    assert found["certified_accuracy_interval"][keys[3]] is None
    assert list(found["certified_accuracy_notes"]) == keys[3:]
    assert "not provable" in found["certified_accuracy_notes"][keys[3]]
    assert found["largest_provable_radius"] == pytest.approx(most)


def test_the_printed_table(smoothcert, folders, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = smoothcert(
        "analyze", folders / "fixed", "--radii", "0,0.25,2", "--intervals", "--against", folders / "fixed"
    )
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert str(folders / "fixed") in out
    assert all(len(line) <= 80 for line in lines if str(folders) not in line)
    heading = next(line.split() for line in lines if "ACR" in line)
    assert heading == ["images", "ACR", "r=0", "r=0.25", "r=2", "abst.", "votes", "TimeRF"]
    results = sc.Run.open(folders / "fixed").results
    row = next(line.split() for line in lines if line.split()[:1] == ["12"])
    assert row[2:5] == [
        *(f"{math.floor(1000 * s) / 10}" for s in results.certified_accuracy([0, 0.25])),
        "n/p",
    ]
    assert row[-1] == "1.00"
    certified = int(12 * results.certified_accuracy(0)[0])
    low = math.floor(1000 * beta.ppf(0.025, certified, 13 - certified)) / 10
    assert f"{low}–" in out
    assert "radii provable up to" in " ".join(out.split())


def test_an_adaptive_log_at_its_target(smoothcert, refused, folders, tmp_path):
    """Two of three certified at the radius, one of them right: the column says 1, and the option which radius."""
    log = tmp_path / "adaptive_log"
    header = "idx\tlabel\tpredict\tradius proved\tcorrect\tlevels_needed\testimated_pr\ttime"
    rows = [
        "0\t1\t1\t1\t1\t0\t.9\t0:00:01",
        "1\t1\t2\t1\t0\t0\t.9\t0:00:01",
        "2\t1\t-1\t-1\t0\t0\t.5\t0:00:01",
    ]
    log.write_text("\n".join([header, *rows]) + "\n")
    assert "--target" in refused(smoothcert("analyze", log))
    code, out, err = smoothcert(
        "analyze", log, folders / "fixed", "--target", "0.75", "--radii", "0.75,1", "--json"
    )
    assert (code, err) == (0, f"{log}: columns ignored: levels_needed, estimated_pr\n")
    found = json.loads(out)[0]
    assert found["certified_accuracy"] == {"0.75": 1 / 3, "1.00": None}
    assert (found["acr"], found["abstained"]) == (0.25, 1 / 3)
    assert "there is none" in refused(smoothcert("analyze", folders / "fixed", "--target", "0.75"))


def test_time_is_compared_with_a_run_that_has_some(smoothcert, folders, refused, tmp_path):
    seconds = {name: np.mean(sc.Run.open(folders / name).column("seconds")) for name in ("fixed", "staged")}
    found = told(smoothcert, folders / "staged", "--against", folders / "fixed")[0]
    assert found["time_reduction"] == pytest.approx(seconds["fixed"] / seconds["staged"])
    log = tmp_path / "log.tsv"
    assert smoothcert("export", folders / "staged", "-o", log)[0] == 0
    assert told(smoothcert, log, "--against", folders / "fixed")[0]["time_reduction"] is None
    assert "is not a run folder" in refused(smoothcert("analyze", log, "--against", tmp_path))


def test_an_export_read_back_says_the_same(smoothcert, folders, tmp_path):
    for name in ("fixed", "staged"):
        log = tmp_path / f"{name}.tsv"
        assert smoothcert("export", folders / name, "-o", log)[0] == 0
        both = told(smoothcert, folders / name, log, "--radii", "0,0.1,0.25,0.3,0.9,2")
        for key in ("certified_accuracy", "certified_accuracy_notes", "asked_radii"):
            assert both[0][key] == both[1][key]
        assert both[1]["largest_provable_radius"] == pytest.approx(
            both[0]["largest_provable_radius"], abs=1e-6
        )
        assert None in both[1]["certified_accuracy"].values()


def test_an_attack_on_a_run_asks_no_radius_that_the_run_did_not(folders):
    run = sc.Run.open(folders / "many")
    asked = run.manifest["procedure"]["radii"]
    assert set(attacked_radii(None, run, 0.25)) <= set(asked)
    fixed = sc.Run.open(folders / "fixed")
    assert max(attacked_radii(None, fixed, 0.25)) <= fixed.reach.largest


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--radii 0,x", "--radii must be numbers separated by commas such as 0,0.25,0.5"),
        ("--radii -1", "each of --radii must be a finite number >= 0"),
        ("--radii nan", "each of --radii must be a finite number >= 0"),
        ("--radii 1e300", "each of --radii must be at most"),
        ("--radii " + ",".join(["1"] * 300), "--radii must hold from 1 to 256 numbers"),
        ("--variance --radii 0", "no --against, --norm, --radii, --intervals or --target"),
        ("--variance --intervals", "no --against, --norm, --radii, --intervals or --target"),
    ],
)
def test_mistakes(options, sentence, smoothcert, folders, refused):
    assert sentence in refused(smoothcert("analyze", folders / "fixed", *options.split()))


def test_a_manifest_of_no_possible_run_is_refused(folders):
    run = sc.Run.open(folders / "staged")
    manifest = {**run.manifest, "procedure": {**run.manifest["procedure"], "radius": 50.0}}
    with pytest.raises(sc.errors.StoreError, match="there can be no run like the manifest says"):
        _ = sc.Run("forged", manifest, [], [], []).reach
