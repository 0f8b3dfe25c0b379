"""Tables for papers: means and deviations reckoned again from the runs, envelopes by brute force, honest marks."""

import csv
import io
import statistics
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.certificates.reach import Note, Reach
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import Summary, group_runs, run_table
from smoothcert.report.paper.text_tables import csv_table
from truth import CENTRE, HalfSpace

RADII = np.array([0.0, 0.25, 0.5])


def log(name, seed=0, images=40, shift=0.0):
    """A log of made-up radii, some images wrong, some abstained."""
    rng = np.random.default_rng([seed, 5])
    predicted = rng.choice([0, 1, -1], images, p=[0.8, 0.1, 0.1])
    radius = np.where(predicted < 0, 0.0, rng.uniform(0, 0.7, images) + shift)
    return Summary(name, Results(np.arange(images), np.zeros(images, int), predicted, radius), 1.0)


def run(seed=1, n=100, margin=0.3, sigma=0.25, images=6):
    places = (CENTRE + np.linspace(-0.1, 0.2, images)[:, None]).astype(np.float32)
    dataset = sc.Dataset.from_arrays(places, np.ones(images, dtype=np.int64))
    classifier = sc.SmoothedClassifier(HalfSpace(margin).eval(), sc.Gaussian(sigma), 2)
    return sc.certify(classifier, dataset, procedure=sc.FixedSample(n0=10, n=n), seed=seed, workers=1)


def share(summary, radius):
    """Certified accuracy, image by image."""
    found = summary.results
    rows = zip(found.label, found.predicted, found.radius, strict=True)
    return sum(bool(p == y and r >= radius) for y, p, r in rows) / len(found)


def rows_of(table):
    return {row[0].text: dict(zip(table.columns, row, strict=True)) for row in table.rows}


def test_means_and_deviations_follow_from_the_runs_of_the_csv():
    logs = [log(f"a-seed{seed}.tsv", seed) for seed in range(4)]
    table = run_table(group_runs([*logs, log("b.tsv", 9)]), radii=RADII)
    records = list(csv.DictReader(io.StringIO(csv_table(table))))
    runs = [record for record in records if record["kind"] == "run" and record["group"] == "a"]
    (mean,) = [record for record in records if record["kind"] == "mean over seeds"]
    assert (mean["name"], mean["seeds"], len(runs), len(records)) == ("a", "4", 4, 6)
    for key in ("acr", "abstained", *(f"certified_accuracy_{r:.2f}" for r in RADII)):
        values = [float(record[key]) for record in runs]
        assert float(mean[key]) == pytest.approx(statistics.mean(values), rel=1e-12)
        assert float(mean[f"{key}_sd"]) == pytest.approx(statistics.stdev(values), rel=1e-9)
    for summary, record in zip(logs, runs, strict=True):  # and these from the images
        for radius in RADII:
            assert float(record[f"certified_accuracy_{radius:.2f}"]) == pytest.approx(share(summary, radius))
        assert record["acr_sd"] == record["votes"] == ""
    cell = rows_of(table)["a"]["ACR"]
    assert float(cell.text) <= float(mean["acr"]) < float(cell.text) + 1e-4
    assert float(cell.deviation) - 1e-4 < float(mean["acr_sd"]) <= float(cell.deviation)
    at = rows_of(table)["a"]["r=0.25"]
    assert float(at.text) <= 100 * float(mean["certified_accuracy_0.25"]) < float(at.text) + 0.1
    assert float(at.deviation) >= 100 * float(mean["certified_accuracy_0.25_sd"])
    assert rows_of(table)["b.tsv"]["ACR"].deviation is None


@pytest.mark.parametrize(
    ("names", "groups"),
    [
        (["a-seed0", "a-seed1"], ["a"]),
        (["runs/a_seed0", "runs/a_seed10", "runs/b"], ["runs/a", "runs/b"]),
        (["a/seed-0", "a/seed-1/", "b/seed-0"], ["a", "b/seed-0"]),
        (["x.seed1.tsv", "x.seed2.tsv"], ["x"]),
        (["a_s1", "a_s2"], ["a_s1", "a_s2"]),  # papers write sigma so
        (["aseed0", "aseed1"], ["aseed0", "aseed1"]),
        (["seed0", "seed1"], ["seed0", "seed1"]),
        (["a-seed0", "a-seeds"], ["a-seed0", "a-seeds"]),
    ],
)
def test_names_that_differ_in_a_trailing_seed_are_one_group(names, groups):
    logs = [log(name, seed) for seed, name in enumerate(names)]
    assert [group.name for group in group_runs(logs)] == groups
    assert [group.name for group in group_runs(logs, by_name=False)] == names


def test_shortened_names_are_grouped_by_their_paths():
    paths = {
        "seed-0": "x/a/seed-0",
        "seed-1": "x/a/seed-1",
        "b-seed0": "b-seed0",
        "mine-seed0": "c",
        "mine-seed1": "d",
    }
    logs = [log(name, seed) for seed, name in enumerate(paths)]
    groups = group_runs(logs, paths={name: Path(path) for name, path in paths.items()})
    assert [(group.name, group.seeds) for group in groups] == [("a", 2), ("b-seed0", 1), ("mine", 2)]
    alike = ["p/a/seed0", "p/a/seed1", "q/a/seed0", "q/a/seed1"]
    logs = [log(name, seed) for seed, name in enumerate(alike)]
    groups = group_runs(logs, paths={name: Path(name) for name in alike})
    assert [group.name for group in groups] == ["p/a", "q/a"]  # both would be called a


def test_groups_are_named_by_hand_and_one_path_is_another_name():
    logs = [log("x", 0), log("y", 1), log("a-seed0", 2), log("a-seed1", 3)]
    groups = group_runs(logs, {"both": ["y", "x"], "mine": ["a-seed1"]})
    assert [(group.name, group.seeds) for group in groups] == [("both", 2), ("a-seed0", 1), ("mine", 1)]
    with pytest.raises(InvalidArgumentError, match="group g names z, which is not among the runs"):
        group_runs(logs, {"g": ["z"]})
    with pytest.raises(InvalidArgumentError, match="in group g and in group h"):
        group_runs(logs, {"g": ["x"], "h": ["x"]})


class TestAlike:
    """What differs in more than seeds and weights is no group."""

    @staticmethod
    def refuse(first, second, why):
        with pytest.raises(InvalidArgumentError, match=why):
            group_runs([first, second], {"g": [first.name, second.name]})

    def test_runs(self):
        one = Summary.of_run(run(), "one")
        self.refuse(one, Summary.of_run(run(2, n=200), "two"), r"procedure\.n is 100 and 200")
        self.refuse(one, Summary.of_run(run(2, sigma=0.5), "two"), r"noise\.sigma is 0\.25 and 0\.5")
        self.refuse(one, Summary.of_run(run(2, images=5), "two"), "differ in more than seeds")
        self.refuse(one, Summary.of_run(run(1), "two"), "the same run of one model with one seed")
        self.refuse(one, log("two"), "a run and a log")
        fresh = Summary.of_run(run(2), "two")
        (group,) = group_runs([one, fresh], {"g": ["one", "two"]})
        assert group.about == "2 runs of 1 model(s)"
        (group,) = group_runs([one, Summary.of_run(run(2, margin=0.4), "two")], {"g": ["one", "two"]})
        assert group.about == "2 models"
        assert list(group.votes) == [110, 110]

    def test_logs(self):
        self.refuse(log("one"), log("two", 1, images=39), "differ in more than seeds")
        self.refuse(log("one"), log("two"), "the same run")
        asked = replace(log("two", 1), told=Reach(0.5, (0.25, 0.5)))
        self.refuse(log("one"), asked, "asked radii")


def test_marks_stand_where_figures_would_mislead():
    def asked(seed, radii):
        results = Results(np.arange(4), np.zeros(4, int), np.zeros(4, int), np.array(radii))
        return Summary(f"a-seed{seed}", results, 1.0, told=Reach(0.5, (0.25, 0.5, 0.9), norm="l2"))

    group = group_runs([asked(0, [0, 0.25, 0.25, 0.5]), asked(1, [0.25, 0, 0, 0])])
    table = run_table(group, radii=np.array([0.1, 0.25, 0.5, 0.7, 0.9]))
    texts = [rows_of(table)["a"][f"r={r}"].plain for r in ("0.1", "0.25", "0.5", "0.7", "0.9")]
    assert texts == ["≥50.0 ± 35.4", "50.0 ± 35.4", "12.5 ± 17.7", "–", "n/p"]
    said = " ".join(table.notes)
    assert all(note.value in said for note in (Note.AT_LEAST, Note.NOT_ASKED, Note.NOT_PROVABLE))
    record = next(one for one in table.records if one["kind"] == "mean over seeds")
    assert record["certified_accuracy_0.70"] is record["certified_accuracy_0.90_sd"] is None
    assert record["certified_accuracy_0.90_note"] == Note.NOT_PROVABLE.value


class TestEnvelope:
    """Of logs, by their names; against every image and radius counted one by one."""

    LOGS = (log("x", 0), log("y", 1, shift=0.1), log("z", 2))

    def test_brute_force(self):
        table = run_table(group_runs(self.LOGS), envelopes={"three": ["x", "y", "z"]}, radii=RADII)
        best, mean = (one for one in table.records if one["kind"] in ("envelope", "average"))
        assert best["name"] == "three: envelope of 3"
        for radius in RADII:
            shares = [share(one, radius) for one in self.LOGS]
            assert best[f"certified_accuracy_{radius:.2f}"] == pytest.approx(max(shares))
            assert mean[f"certified_accuracy_{radius:.2f}"] == pytest.approx(statistics.mean(shares))
        assert best["acr"] == max(one.acr for one in self.LOGS)
        assert [row[0].text for row in table.blocks[1]] == ["three: envelope of 3", "three: average of 3"]

    @pytest.mark.parametrize("members", [["x"], ["x", "x"], ["x", "w"]])
    def test_two_that_are_there_are_needed(self, members):
        with pytest.raises(InvalidArgumentError, match="needs two members or more"):
            run_table(group_runs(self.LOGS), envelopes={"e": members})

    def test_other_images_are_refused(self):
        logs = [log("x"), log("y", 1, images=30)]
        with pytest.raises(InvalidArgumentError, match="envelope e: x and y differ"):
            run_table(group_runs(logs), envelopes={"e": ["x", "y"]})


def test_best_figures_are_bold_only_where_asked_and_comparable():
    logs = [log("x", 0), log("y", 1, shift=0.3), replace(log("y", 1, shift=0.3), name="twin")]
    plain = run_table(group_runs(logs), radii=RADII)
    assert not any(cell.is_best for row in plain.rows for cell in row)
    bold = rows_of(run_table(group_runs(logs), radii=RADII, bold=True, envelopes={"e": ["x", "y"]}))
    assert [bold[name]["ACR"].is_best for name in ("x", "y", "twin")] == [False, True, True]
    assert not bold["e: envelope of 2"]["ACR"].is_best
    assert not any(bold[name]["abst. (%)"].is_best for name in ("x", "y"))
    with pytest.raises(
        InvalidArgumentError, match="bold would compare x and w, which are about different images"
    ):
        run_table(group_runs([logs[0], log("w", 3, images=39)]), bold=True)
    assert not any(cell.is_best for cell in run_table(group_runs(logs[:1]), bold=True).rows[0])


def test_a_table_needs_images():
    with pytest.raises(InvalidArgumentError, match="at least one run"):
        run_table([])
    with pytest.raises(InvalidArgumentError, match="at least one finished image"):
        run_table(group_runs([log("x", images=0)]))
