"""`compare`: the sentence and the table of made-up logs, runs beside logs, and what is refused."""

import json
import re

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.bounds import paired_difference_interval

HEADER = "idx\tlabel\tpredict\tradius\tcorrect\ttime"


def write_log(path, radii, first=0, label=3):
    """A log of images of one class; a radius below 0 is an abstention."""
    rows = [
        f"{first + i}\t{label}\t{label if r >= 0 else -1}\t{max(r, 0)}\t{int(r >= 0)}\t0:00:01"
        for i, r in enumerate(radii)
    ]
    path.write_text("\n".join([HEADER, *rows]) + "\n")
    return path


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """A hardened network against a plain one, as published: alike at small radii, far ahead at large ones."""
    base, rng = tmp_path_factory.mktemp("logs"), np.random.default_rng(2)
    hardness = rng.uniform(0, 1, 400)
    plain = np.round(np.where(hardness < 0.95, 1.9 * (1 - hardness**2), -1), 3)
    hardened = np.round(np.where(hardness < 0.94, 1.9 * (1 - hardness**4), -1), 3)
    return {
        "plain": write_log(base / "plain.tsv", plain.tolist()),
        "hardened": write_log(base / "hardened.tsv", hardened.tolist()),
        "counts": (
            int((hardened >= 1.5).sum() - (plain >= 1.5).sum()),
            int((plain >= 0).sum() - (hardened >= 0).sum()),
        ),
        "few": write_log(base / "few.tsv", plain[:300].tolist()),
        "later": write_log(base / "later.tsv", plain.tolist(), first=400),
        "labels": write_log(base / "labels.tsv", plain.tolist(), label=4),
        "one": write_log(base / "one.tsv", [1.2]),
        "empty": write_log(base / "empty.tsv", []),
    }


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    base = tmp_path_factory.mktemp("runs")
    data = sc.Dataset.from_arrays(np.linspace([0.1, 0.9], [0.9, 0.1], 12), [1] * 6 + [0] * 6)
    other = sc.Dataset.from_arrays(np.linspace([0.1, 0.8], [0.9, 0.1], 12), [1] * 6 + [0] * 6)

    def run(name, dataset=data, noise=None, procedure=None, **changes):
        classifier = sc.SmoothedClassifier(
            lambda x: x[:, :2], noise or sc.Gaussian(0.25), 2, input_shape=(2,)
        )
        how = {
            "procedure": procedure or sc.FixedSample(n0=10, n=100),
            "seed": 1,
            "workers": 1,
            "out": base / name,
        }
        sc.certify(classifier, dataset, **how, **changes)

    run("plain")
    run("grid", procedure=sc.Sequential(radii=(0, 0.1, 0.17), max_samples=640))
    run("other", other)
    run(
        "l0",
        sc.Dataset.from_arrays(np.eye(2)[[1] * 6 + [0] * 6], [1] * 6 + [0] * 6),
        sc.DiscreteReplacement(0.8, 2),
    )
    return base


def test_the_sentence_and_the_table(smoothcert, logs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, err = smoothcert("compare", logs["plain"], logs["hardened"], "--radii", "0,1.5,4")
    assert (code, err) == (0, "")
    assert all(len(line) <= 80 for line in out.splitlines() if str(logs["plain"].parent) not in line)
    assert [f"{side}: {logs[name]}" in out for side, name in (("A", "plain"), ("B", "hardened"))] == [
        True,
        True,
    ]
    gained, lost = logs["counts"]
    low, high = paired_difference_interval(gained, 0, 400, (1 - 0.95) / 3)
    sentence = re.search(r"On images like these .*? concluded\.", " ".join(out.split()))[0]
    told = re.fullmatch(
        r"On images like these B certifies more than A at r = 1.5, by ([\d.]+) to ([\d.]+) points "
        r"\(95% confidence, for all 3 radii at once\); at r = 0 nothing can be concluded\.",
        sentence,
    )
    assert 0 <= 100 * low - float(told[1]) < 0.01
    assert 0 <= float(told[2]) - 100 * high < 0.01
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.startswith("r=")}
    assert rows["r=1.5"][2:5] == ["0", str(gained), f"+{gained / 4:.2f}"]
    assert rows["r=0"][2:5] == [str(lost), "0", f"-{lost / 4:.2f}"]
    assert rows["r=4"] == ["?", "?"]
    assert "?  not known" in out
    assert "A and B are logs" in out


def test_unrounded_figures(smoothcert, logs):
    code, out, err = smoothcert("compare", logs["hardened"], logs["plain"], "--json", "--confidence", "0.9")
    assert (code, err) == (0, "")
    found = json.loads(out)
    at = found["certified_accuracy"]
    assert list(at) == [f"{0.25 * i:.2f}" for i in range(8)]
    assert at["1.50"]["difference"] == pytest.approx(-logs["counts"][0] / 400)
    assert at["1.50"]["interval"] == list(paired_difference_interval(0, logs["counts"][0], 400, 1 - 0.9))
    assert at["1.50"]["joint_interval"] == list(
        paired_difference_interval(0, logs["counts"][0], 400, (1 - 0.9) / 8)
    )
    assert 1.5 in found["a_certifies_more_at"]
    assert found["b_certifies_more_at"] == []
    assert found["acr"]["difference"] == pytest.approx(found["b"]["acr"] - found["a"]["acr"])
    low, high = found["acr"]["approximate_interval"]
    assert low < found["acr"]["difference"] < high < 0
    assert found["conclusion"].startswith("On images like these A certifies more than B")


def test_common_images(smoothcert, refused, logs):
    sentence = refused(smoothcert("compare", logs["few"], logs["hardened"]))
    assert "few.tsv (images 0 to 299; 300 in all)" in sentence
    assert "300 of them the same; give --common" in sentence
    code, out, _ = smoothcert("compare", logs["few"], logs["hardened"], "--common", "--radii", "1")
    assert code == 0
    out = " ".join(out.split())
    assert "Only the 300 images that both have are compared; 0 of A and 100 of B are left out." in out
    assert "Compared on images 0 to 299 (300 in all)." in out


def test_the_same_log_twice_and_one_image(smoothcert, logs):
    code, out, _ = smoothcert("compare", logs["plain"], logs["plain"])
    assert code == 0
    assert (
        "Nothing can be concluded about certified accuracy: at these radii A and B certify the same images."
        in " ".join(out.split())
    )
    assert "ACR has no interval" in out
    code, out, _ = smoothcert("compare", logs["one"], logs["one"], "--radii", "1")
    assert code == 0
    assert "Compared on image 0 (1 in all)." in out


def test_radii_that_were_asked_are_compared_by_default(smoothcert, folders, tmp_path):
    code, out, err = smoothcert("compare", folders / "plain", folders / "grid", "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert list(found["certified_accuracy"]) == ["0.00", "0.10", "0.17"]
    assert all(one["interval"] for one in found["certified_accuracy"].values())
    assert found["acr"]["difference"] is None
    assert "asked about different radii" in found["acr"]["not_compared"]
    assert "runs of the same model" in found["remarks"][0]
    assert found["remarks"][1].startswith("Different procedure: A fixed")
    code, out, _ = smoothcert("compare", folders / "plain", folders / "grid", "--radii", "0.05,0.1")
    assert code == 0
    assert re.search(r"r=0.05 +[\d.]+ +≥[\d.]+$", out, re.MULTILINE)
    assert "≥ not asked about: at least what is proven at the next larger radius" in " ".join(out.split())


def test_an_unfinished_run(smoothcert, refused, folders, tmp_path):
    """The last four images taken away, as if the run had been stopped."""
    import shutil
    import sqlite3

    folder = shutil.copytree(folders / "plain", tmp_path / "stopped")
    with sqlite3.connect(folder / "run.sqlite") as database:
        for table in ("certificates", "counts", "votes"):
            database.execute(f"DELETE FROM {table} WHERE idx >= 8")
    database.close()
    sentence = refused(smoothcert("compare", folders / "plain", folder))
    assert f"or finish {folder} with --resume" in sentence
    code, out, _ = smoothcert("compare", folders / "plain", folder, "--common")
    assert code == 0
    out = " ".join(out.split())
    assert "Provisional, as a run is unfinished: " in out
    assert "is unfinished, 4 of its images are missing; hard images end last" in out


@pytest.mark.parametrize(
    ("a", "b", "options", "sentence"),
    [
        ("plain", "later", "--common", "have no image in common (images 0 to 399; images 400 to 799)"),
        (
            "plain",
            "labels",
            "--common",
            "image 0 has label 3 in the one and 4 in the other (400 of 400 images differ)",
        ),
        ("plain", "empty", "--common", "have no image in common"),
        ("plain", "hardened", "--radii 0,x", "--radii must be numbers separated by commas"),
        ("plain", "hardened", "--radii -1", "each of --radii must be a finite number >= 0"),
        ("plain", "hardened", "--confidence 95", "confidence must be a probability from 0.5 to below 1"),
        ("plain", "hardened", "--confidence nan", "confidence must be a probability from 0.5 to below 1"),
        ("plain", "hardened", "--target 0.5", "there is none; leave it out"),
        ("plain", "hardened", "--norm linf", "is a log, which tells neither norm nor image size"),
    ],
)
def test_logs_that_are_refused(a, b, options, sentence, smoothcert, refused, logs):
    assert sentence in refused(smoothcert("compare", logs[a], logs[b], *options.split()))


def test_runs_that_are_refused(smoothcert, refused, folders, logs, tmp_path):
    plain = folders / "plain"
    assert "are about different data sets: " in refused(
        smoothcert("compare", plain, folders / "other", "--common")
    )
    assert "has radii in l2, " in refused(smoothcert("compare", plain, folders / "l0"))
    assert "cannot be turned into l2" in refused(smoothcert("compare", plain, folders / "l0", "--norm", "l2"))
    assert "image 0 has label 1 in the one and 3" in refused(
        smoothcert("compare", plain, logs["plain"], "--common")
    )
    assert "is not a run folder" in refused(smoothcert("compare", plain, tmp_path))
    assert "there is no " in refused(smoothcert("compare", plain, tmp_path / "none"))
    assert "B is empty" in refused(smoothcert("compare", plain, ""))
    assert smoothcert("compare", plain)[0] == 2
