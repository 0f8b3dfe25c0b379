"""A small table made again: published beside own figures, what was scaled down, and the same table after any stop."""

import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

import smoothcert as sc
from following import ROOT, blocks_of
from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.report import reproduction_tables
from smoothcert.workflows.quantizing.quantize import quantize
from smoothcert.workflows.reproducing import certifying, classifiers, reproduce, trainings
from smoothcert.workflows.reproducing.library import load_table
from smoothcert.workflows.reproducing.plan import make_plan
from smoothcert.workflows.reproducing.table_file import Images
from smoothcert.workflows.reproducing.table_rules import BUDGETS
from tiny_table import TINY

STEPS = (
    (trainings, "train_in_process"),
    (classifiers, "make_ensemble"),
    (certifying, "certify"),
    (certifying, "certify_panel"),
    (reproduce, "write_reproduction"),
    (reproduce, "write_report"),
)


def make(tiny, out, **options):
    return reproduce.reproduce(tiny, out, workers=1, **options)


@pytest.fixture(scope="module")
def once():
    """What an uninterrupted reproduction wrote, for the tests of this file."""
    return {}


@pytest.fixture
def whole(once, tiny, here, tmp_path_factory):
    if not once:
        out = tmp_path_factory.mktemp("whole")
        once |= {"made": make(tiny, out), "out": out, "trained": list(here)}
        here.clear()
    return once


def test_published_and_own_stand_side_by_side(whole):
    made, out = whole["made"], whole["out"]
    assert sorted(whole["trained"]) == ["gaussian-0", "gaussian-1", "gaussian-2", "stability-0"]
    assert whole["trained"][-1] == "stability-0"  # begins with gaussian-0
    first, second = (
        sc.folders.read_card(out / "models" / "sigma-0.25" / f"{one}-0") for one in ("gaussian", "stability")
    )
    assert second.training["digests"] == [first.digest]
    (part,) = made.parts
    assert [row.name for row in part.rows] == [
        "gaussian",
        "stability",
        "soft",
        "hard",
        "fitted",
        "envelope",
        "staged",
        "rounded-group",
    ]
    told = json.loads((out / "table.json").read_text())
    rows = {row["name"]: row for row in told["parts"][0]["rows"]}
    assert rows["gaussian"]["published"]["certified_accuracy"] == {"0.00": 0.9, "0.25": 0.5}
    assert rows["stability"]["published"]["certified_accuracy"] == {"0.00": 0.91, "0.50": 0.125}
    for name in ("gaussian", "stability", "soft", "hard", "fitted"):
        own, run = rows[name]["own"], sc.Run.open(out / "runs" / "sigma-0.25" / name)
        assert own["acr"] == run.average_radius()
        assert own["acr_interval"][0] <= own["acr"] <= own["acr_interval"][1]
        assert own["certified_accuracy"]["0.00"] == run.certified_accuracy([0.0])[0]
        assert own["images"] == 12
    low, high = rows["gaussian"]["own"]["certified_accuracy_interval"]["0.00"]
    assert low < rows["gaussian"]["own"]["certified_accuracy"]["0.00"] < high
    assert set(rows["staged"]["own"]["figures"]) == {"sample_reduction", "consensus_rate", "returned_1"}
    assert rows["staged"]["own"]["figures"]["sample_reduction"] > 100
    rounded = sc.Run.open(out / "runs" / "sigma-0.25" / "rounded-group").manifest
    assert rounded["precision"] == "int8"
    assert rounded["procedure"]["name"] == "group"
    assert rounded["procedure"]["n"] == 200  # as many as its rival
    assert set(rows["rounded-group"]["own"]["figures"]) == {"sample_reduction"}
    members = [
        sc.Run.open(out / "runs" / "sigma-0.25" / name).average_radius()
        for name in ("gaussian", "members/gaussian-1")  # the first member is a row itself
    ]
    assert rows["envelope"]["own"]["acr"] == max(members)
    assert rows["envelope"]["own"]["acr_interval"] is None


def test_files_and_page_carry_the_table(whole):
    made, out = whole["made"], whole["out"]
    lines = (out / "table.md").read_text()
    for line in (
        "Reproduced: no paper",
        "Scaled down: all networks",
        "of ACR among these rows came out",
        "figures are made up",
    ):
        assert line in lines
    with (out / "table.csv").open() as file:
        records = list(csv.DictReader(file))
    assert [record["row"] for record in records] == [row.name for row in made.parts[0].rows]
    assert float(records[0]["published_acr"]) == 0.2
    assert float(records[0]["own_acr"]) == made.parts[0].rows[0].acr
    assert [records[0][name] for name in ("these_images_acr", "own_minus_baseline_low")] == ["0.19", ""]
    interval = made.parts[0].against_baseline["stability"].acr_interval
    assert (
        float(records[1]["own_minus_baseline_low"]),
        float(records[1]["own_minus_baseline_high"]),
    ) == interval
    figure = (out / "sigma-0.25.svg").read_text()
    assert "published" in figure
    assert all(name in figure for name in ("gaussian", "fitted"))
    assert "staged" not in figure  # one radius is no curve
    page = (out / "page.html").read_text()
    for text in ("published and own", "Scaled down: all networks", "own - gaussian", "95% interval"):
        assert text in page
    (table,) = reproduction_tables(made)
    first, second = ([cell.plain for cell in row] for row in table.rows[:2])
    assert first[:4] == ["Gaussian", "published", "0.200", "90.0"]
    assert first[5] == "–"  # the paper has no figure at radius 0.5
    assert second[1:6] == ["these images", "0.190", "88.0", "48.0", "20.0"]


def test_certificates_of_other_images_are_not_set_beside_the_own(tiny):
    entry = load_table(tiny).parts["sigma-0.25"].rows["gaussian"].published
    assert entry.read((0.0, 0.25, 0.5), entry.log.images).on_these_images.acr == 0.19
    for images in ({"stop": 24}, {"stop": 24, "every": 3}, {"start": 2, "stop": 24, "every": 2}):
        assert entry.read((0.0, 0.25, 0.5), Images(**images)).on_these_images is None


def on_grid(tiny, path, **changes):
    """The same table, certified at its radii alone."""
    table = yaml.safe_load(Path(tiny).read_text())
    table["budgets"]["minutes"] |= {"grid": True, "votes": 2000, **changes}
    path.write_text(yaml.safe_dump(table))
    return str(path)


def test_a_grid_is_certified_at_the_radii_of_the_table(whole, tiny, tmp_path):
    told = []
    grid = on_grid(tiny, tmp_path / "tiny.yaml")
    rows = ["gaussian", "stability", "soft", "hard", "envelope", "staged"]
    made = make(grid, tmp_path / "out", models=whole["out"] / "models", only=rows, say=told.append)
    radii, (part,) = (0.0, 0.25, 0.5), made.parts
    for row in part.rows[:4]:
        found = row.summary.results
        assert row.summary.asked == radii
        assert set(found.radius[found.correct]) <= set(radii)
        each = [one.results for one in row.runs]  # of an envelope the best at each radius
        shares = [
            max(float((one.correct & (one.radius >= radius)).mean()) for one in each) for radius in radii
        ]
        assert row.acr == pytest.approx(0.25 * shares[1] + 0.25 * shares[2])
    assert part.rows[-1].summary.asked == (0.25,)  # stages stay what they are
    shared = next(line for line in told if "same passes" in line)
    assert all(name in shared for name in ("soft", "hard", "gaussian", "members/gaussian-1"))
    assert "stability" not in shared
    assert any("at most 2,000 votes instead of CERTIFY's 100,000" in line for line in made.scaled_down)
    (table,) = reproduction_tables(made)
    lines = {(row[0].plain, row[1].plain): row[2].plain for row in table.rows}
    assert lines["Gaussian", "published"] == "–"  # the paper has no figure at radius 0.5
    assert lines["", "these images"] == "0.170"  # .25 (48% + 20%)
    assert any("ACR is that of the grid" in note for note in table.notes)


def test_rows_of_the_same_passes_are_what_they_are_alone(whole, tiny, tmp_path):
    grid = on_grid(tiny, tmp_path / "tiny.yaml")
    models = {"models": whole["out"] / "models"}
    together = make(grid, tmp_path / "together", only=["gaussian", "soft", "hard"], **models)
    for row in together.parts[0].rows:
        alone = make(grid, tmp_path / row.name, only=[row.name], **models)
        one, other = row.summary.run.results, alone.parts[0].rows[0].summary.run.results
        assert (one.radius == other.radius).all()
        assert (one.predicted == other.predicted).all()


def test_two_rows_of_one_network_are_both_certified(whole, tiny, tmp_path):
    table = yaml.safe_load(Path(tiny).read_text())
    rows = table["parts"]["sigma-0.25"]["rows"]
    rows["twin"] = {"members": {"gaussian": 1}}
    table["budgets"]["minutes"] |= {"grid": True, "votes": 300}
    (tmp_path / "tiny.yaml").write_text(yaml.safe_dump(table))
    models = whole["out"] / "models"
    made = make(
        str(tmp_path / "tiny.yaml"), tmp_path / "out", models=models, only=["gaussian", "soft", "twin"]
    )
    first, _, twin = made.parts[0].rows
    assert first.acr == twin.acr


def test_what_was_scaled_down_is_told(whole):
    told = "; ".join(whole["made"].scaled_down)
    assert (
        "all networks: batch_size 20 instead of 32, epochs 2 instead of 20, training images 400 instead of all"
        in told
    )
    assert "stability: lbd 1 instead of 2, start gaussian-0 instead of none" in told
    assert "12 test images, every 2nd from 0 on instead of 400" in told
    assert "200 votes instead of 100,000" in told
    assert "sigma-0.5 is left out" in told
    assert "sigma-0.25 staged has 3 members instead of 5" in told


def test_every_pair_of_published_radii_gets_a_verdict(whole):
    orders = whole["made"].parts[0].orders
    acrs = [0.2, 0.3, 0.4, 0.35, 0.35, 0.25]  # of the rows that have one; hard and fitted tie
    assert len(orders) == len(acrs) * (len(acrs) - 1) // 2 - 1
    rows = {row.name: row for row in whole["made"].parts[0].rows}
    for order in orders:
        assert rows[order.better].published.acr > rows[order.worse].published.acr
        assert order.verdict.came_out == (rows[order.better].acr > rows[order.worse].acr)


class Stopped(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.slow
def test_stopped_at_each_step_it_ends_with_the_same_table(whole, tiny, here, tmp_path, monkeypatch):
    calls, stop_at = 0, None

    def counting(function):
        def call(*args, **options):
            nonlocal calls
            calls += 1
            if calls == stop_at:
                raise Stopped
            return function(*args, **options)

        return call

    for module, name in STEPS:
        monkeypatch.setattr(module, name, counting(getattr(module, name)))
    for stop_at in range(1, 40):
        calls = 0
        try:
            make(tiny, tmp_path / "out")
        except Stopped:
            assert stop_at <= 20
        else:
            break
    assert stop_at > len(STEPS)
    for name in ("table.json", "table.csv", "table.md"):
        assert (tmp_path / "out" / name).read_text() == (whole["out"] / name).read_text()
    assert len(here) == len(set(here)) == 4  # nothing was trained twice


@pytest.mark.slow
def test_killed_for_good_it_ends_with_the_same_table(whole, tiny, tmp_path):
    """A real SIGKILL in the middle of the trainings, and one as soon as a run is begun."""
    out = tmp_path / "out"
    command = [sys.executable, "-m", "smoothcert", "reproduce", tiny, "--out", str(out), "--workers", "1"]
    for sign in ("models/sigma-0.25/*/metrics.jsonl", "runs/sigma-0.25/*/run.sqlite"):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 120
        while not list(out.glob(sign)) and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert not (out / "table.json").exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    assert (out / "table.json").read_text() == (whole["out"] / "table.json").read_text()


def test_models_that_were_trained_before_are_taken(whole, tiny, here, tmp_path):
    made = make(tiny, tmp_path / "out", models=whole["out"] / "models", only=["gaussian", "stability"])
    assert here == []
    assert not (tmp_path / "out" / "models").exists()
    assert [row.acr for row in made.parts[0].rows] == [row.acr for row in whole["made"].parts[0].rows[:2]]


def test_other_models_are_told_by_what_they_are(whole, tiny, here, tmp_path):
    """What was scaled down comes from the folders: a model given may be another than the budget's."""
    given = tmp_path / "given"
    config = sc.load_recipe("digits-gaussian").config(sigma=0.25, seed=0, epochs=3, max_train_images=200)
    sc.train(config, given / "gaussian")
    made = make(tiny, tmp_path / "out", models=given, only=["gaussian"])
    assert "gaussian: epochs 3 instead of 20, training images 200 instead of all" in made.scaled_down[0]
    sc.train(config.changed(sigma=0.5), tmp_path / "wide" / "gaussian")
    with pytest.raises(InvalidArgumentError, match=r"trained for other noise than that of sigma-0\.25"):
        make(tiny, tmp_path / "other", models=tmp_path / "wide", only=["gaussian"])
    assert not (tmp_path / "other").exists()


def test_rows_and_budgets_that_there_are_not_are_refused(tiny, tmp_path):
    with pytest.raises(
        InvalidArgumentError,
        match=r"has no row 'gauss' in sigma-0\.25, which budget minutes makes; known: gaussian, stability",
    ):
        make(tiny, tmp_path / "out", only=["gauss"])
    with pytest.raises(InvalidArgumentError, match="budget must be one of minutes, hours, paper, got 'days'"):
        make(tiny, tmp_path / "out", budget="days")
    assert not (tmp_path / "out").exists()


def test_a_row_made_by_itself_leaves_the_others_in_the_table(whole, tiny, tmp_path):
    models = whole["out"] / "models"
    made = make(tiny, tmp_path / "out", models=models, only=["gaussian"])
    told = "; ".join(made.scaled_down)
    assert "sigma-0.25: stability, soft, hard, fitted, envelope, staged, rounded-group not made yet" in told
    assert made.lines[2].startswith("No two rows")
    (tmp_path / "out" / "certificates" / "sigma-0.25" / "gaussian.json").unlink()
    shutil.rmtree(tmp_path / "out" / "runs" / "sigma-0.25" / "gaussian")
    said = []
    make(tiny, tmp_path / "out", models=models, only=["stability"], say=said.append)
    assert not [
        line for line in said if "gaussian: " in line
    ]  # its certificates are gone, and it was not asked for
    again = make(tiny, tmp_path / "out", models=models, only=["sigma-0.25/gaussian"])
    assert [row.name for row in again.parts[0].rows] == ["gaussian", "stability"]
    assert len(again.parts[0].orders) == 1
    (tmp_path / "out" / "table.json").write_text("[]")
    with pytest.raises(
        InvalidArgumentError, match=r"table\.json is not the table that was written there; remove it"
    ):
        make(tiny, tmp_path / "out", models=models, only=["gaussian"])


def test_budgets_that_the_file_does_not_name_are_not_made_up(tmp_path):
    table = yaml.safe_load(TINY)
    for left, known in (({"hours": table["budgets"]["hours"]}, ["hours", "paper"]), ({}, list(BUDGETS))):
        (tmp_path / "mine.yaml").write_text(yaml.safe_dump(table | {"budgets": left}))
        mine = load_table(str(tmp_path / "mine.yaml"))
        for budget in BUDGETS:
            if budget in known:
                assert make_plan(mine, budget).budget_name == budget
            else:
                with pytest.raises(
                    InvalidArgumentError, match="nothing of budget minutes; give one of hours, paper"
                ):
                    make_plan(mine, budget)
    assert make_plan(mine, "minutes").budget.votes == 100_000


def test_rows_are_kept_without_their_votes_and_not_certified_again(whole, tiny, tmp_path, monkeypatch):
    """As in a project that keeps models and certificates, and not the runs."""
    out = whole["out"]
    for name in ("models", "certificates"):
        shutil.copytree(out / name, tmp_path / name)

    def never(*args, **options):
        raise AssertionError("certified again")

    monkeypatch.setattr(certifying, "certify", never)
    monkeypatch.setattr(certifying, "certify_panel", never)
    make(tiny, tmp_path)
    assert (tmp_path / "table.md").read_text() == (out / "table.md").read_text()
    assert (tmp_path / "table.json").read_text() == (out / "table.json").read_text()


def test_certificates_of_another_seed_are_refused(whole, tiny, tmp_path):
    for name in ("models", "certificates"):
        shutil.copytree(whole["out"] / name, tmp_path / name)
    with pytest.raises(SmoothcertError, match="seed was '0' and is now '7'"):
        make(tiny, tmp_path, seed=7, only=["gaussian"])
    with pytest.raises(SmoothcertError, match="another seed than row fitted has now"):
        make(tiny, tmp_path, seed=7, only=["fitted"])


@pytest.fixture
def kept(whole, tmp_path):
    """A folder that keeps models and certificates, and no runs."""
    for name in ("models", "certificates"):
        shutil.copytree(whole["out"] / name, tmp_path / name)
    return tmp_path


FORGERIES = {
    "radius": lambda content, row: row.__setitem__(4, row[4] + 0.01),
    "far": lambda content, row: row.__setitem__(4, 900.0),
    "label": lambda content, row: row.__setitem__(1, (row[1] + 1) % 10),
    "votes": lambda content, row: row.__setitem__(6, 10**6),
    "alpha": lambda content, row: content["manifest"].__setitem__("alpha", 0.5),
    "classes": lambda content, row: content["manifest"].__setitem__("class_names", ["x"] * 10),
    "precision": lambda content, row: content["manifest"].__setitem__("precision", "bfloat16"),
    "fewer images": lambda content, row: content["images"].pop(),
    "far with its probability": lambda content, row: row.__setitem__(slice(4, 6), [1.2, 0.9999999]),
    "passes": lambda content, row: row.__setitem__(7, row[7] + 1),
    "class": lambda content, row: row.__setitem__(slice(1, 4), [row[1], row[2], (row[3] + 1) % 10]),
    "no bound": lambda content, row: _counts(content, row).pop(),
    "twice": lambda content, row: _counts(content, row).append(_counts(content, row)[-1]),
}


def _counts(content, row):
    return next(counts for own, counts in content["images"] if own is row)


@pytest.mark.parametrize("forgery", FORGERIES)
@pytest.mark.parametrize("row", ["gaussian", "staged", "rounded-group"])
def test_kept_certificates_that_were_changed_are_refused(kept, tiny, forgery, row):
    file = kept / "certificates" / "sigma-0.25" / f"{row}.json"
    content = json.loads(file.read_text())
    certified = next(rows for rows, _ in content["images"] if rows[3] is not None and rows[4] > 0)
    FORGERIES[forgery](content, certified)
    file.write_text(json.dumps(content))
    with pytest.raises(SmoothcertError, match=rf"{row}\.json"):
        make(tiny, kept, only=[row])


@pytest.mark.parametrize("forgery", ["largest", "abandoned"])
def test_a_grid_proves_no_more_than_its_counts(tiny, tmp_path, forgery):
    """The radius of the table's largest, and an image that was given up; counts stay as they are."""
    table = yaml.safe_load(Path(tiny).read_text())
    table["budgets"]["minutes"] |= {"grid": True, "votes": 300}
    Path(tiny).write_text(yaml.safe_dump(table))
    made = make(tiny, tmp_path / "out", only=["gaussian"])
    shutil.rmtree(tmp_path / "out" / "runs")
    assert (
        make(tiny, tmp_path / "out", only=["gaussian"]).to_json() == made.to_json()
    )  # honest ones are taken
    file = tmp_path / "out" / "certificates" / "sigma-0.25" / "gaussian.json"
    content = json.loads(file.read_text())
    rows = [row for row, _ in content["images"]]
    if forgery == "largest":
        row = next(row for row in rows if row[2] == "CERTIFIED" and row[4] == 0.25)
        row[4:6] = [0.5, 0.9772498680518208]
    else:
        row = next(row for row in rows if row[3] is None)
        row[2:6] = ["CERTIFIED", row[1], 0.25, 0.8413447460685429]
    file.write_text(json.dumps(content))
    with pytest.raises(SmoothcertError, match=r"gaussian\.json was changed after it was written"):
        make(tiny, tmp_path / "out", only=["gaussian"])


def test_a_run_replaces_what_was_kept(whole, tiny, tmp_path):
    shutil.copytree(whole["out"], tmp_path / "copy")
    file = tmp_path / "copy" / "certificates" / "sigma-0.25" / "gaussian.json"
    good = file.read_text()
    file.write_text("{}")
    make(tiny, tmp_path / "copy", only=["gaussian"])
    assert file.read_text() == good


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "hard"}, "rule"),
        ({"members": {"gaussian": 1, "stability": 1}}, "networks"),
        ({"early_exit": {"kind": "consensus", "k": 1}}, "early exit"),
    ],
)
def test_an_ensemble_of_another_row_is_refused(kept, tiny, tmp_path_factory, change, said):
    table = yaml.safe_load(Path(tiny).read_text())
    row = table["parts"]["sigma-0.25"]["rows"]["soft"]
    table["parts"]["sigma-0.25"]["rows"]["soft"] = {**row, **change}
    other = tmp_path_factory.mktemp("other") / Path(tiny).name
    other.write_text(yaml.safe_dump(table))
    with pytest.raises(InvalidArgumentError, match=said):
        make(str(other), kept, only=["soft"])


def test_a_rounded_copy_of_another_network_is_refused(kept, tiny):
    others = kept / "others"
    shutil.copytree(kept / "models" / "sigma-0.25" / "gaussian-1", others / "gaussian-0")
    with pytest.raises(InvalidArgumentError, match="gaussian-0-int8 was made from another network"):
        make(tiny, kept, models=others, only=["rounded-group"])


def test_a_budget_certifies_rows_in_int8_that_the_paper_has_in_float32(tiny, here, tmp_path):
    table = yaml.safe_load(Path(tiny).read_text())
    rounded = ["gaussian", "hard", "envelope"]
    table["budgets"]["minutes"] |= {"int8": rounded}
    table["budgets"]["minutes"]["training"] |= {"holdout": "none"}  # ranges come from images that they learnt
    Path(tiny).write_text(yaml.safe_dump(table))
    said: list[str] = []
    made = make(tiny, tmp_path / "out", only=[*rounded, "soft"], say=said.append)
    home = tmp_path / "out" / "runs" / "sigma-0.25"
    runs = {row: sc.Run.open(home / row) for row in ("gaussian", "hard", "members/gaussian-1-int8", "soft")}
    kept = {row: run.manifest.get("precision") for row, run in runs.items()}
    assert kept == {"gaussian": "int8", "hard": "int8", "members/gaussian-1-int8": "int8", "soft": None}
    own = {row.name: row.runs for row in made.parts[0].rows}
    members = [runs[name].average_radius() for name in ("gaussian", "members/gaussian-1-int8")]
    assert [one.acr for one in own["envelope"]] == members
    assert "envelope, gaussian, hard: certified in int8 instead of float32" in made.scaled_down
    assert "gaussian-0 has learnt all training images: some of them set its ranges" in said
    alone = make(tiny, tmp_path / "alone", only=["hard"], models=tmp_path / "out" / "models")
    assert alone.parts[0].rows[0].runs[0].acr == runs["hard"].average_radius()  # in passes of its own


def test_a_network_in_int8_is_enough_where_no_row_wants_another(tiny, here, tmp_path):
    table = yaml.safe_load(Path(tiny).read_text())
    table["budgets"]["minutes"] |= {"int8": ["gaussian", "soft"]}
    Path(tiny).write_text(yaml.safe_dump(table))
    out, rows = tmp_path / "out", ["gaussian", "soft"]
    first = make(tiny, out, only=rows)
    models = out / "models" / "sigma-0.25"
    for number in (0, 1):
        shutil.rmtree(models / f"gaussian-{number}")
    shutil.rmtree(out / "runs")
    here.clear()
    assert make(tiny, out, only=rows).lines == first.lines  # from what is kept
    shutil.rmtree(out / "certificates")
    votes = [[row.runs[0].acr for row in made.parts[0].rows] for made in (first, make(tiny, out, only=rows))]
    assert votes[0] == votes[1]
    given = make(tiny, tmp_path / "given", only=rows, models=out / "models")
    assert [row.runs[0].acr for row in given.parts[0].rows] == votes[0]
    assert not here
    make(tiny, out, only=["hard"])  # in float32, of the same networks
    assert sorted(here) == ["gaussian-0", "gaussian-1"]


def test_what_is_left_in_int8_is_held_to_the_table(tiny, here, tmp_path):
    table = yaml.safe_load(Path(tiny).read_text())
    table["budgets"]["minutes"] |= {"int8": ["gaussian"]}
    Path(tiny).write_text(yaml.safe_dump(table))
    out = tmp_path / "out"
    make(tiny, out, only=["gaussian"])
    models = out / "models" / "sigma-0.25"
    eight = tmp_path / "eight" / "gaussian-0"
    images = sc.load_dataset("digits", "train", holdout=0)
    quantize(models / "gaussian-0", images, eight, precision="int8", seven_bits=False, seed=0)
    shutil.rmtree(models / "gaussian-0")
    table["budgets"]["minutes"]["training"]["epochs"] += 1
    Path(tiny).write_text(yaml.safe_dump(table))
    with pytest.raises(
        CheckpointError, match=r"gaussian-0-int8 already holds a model trained with another epochs"
    ):
        make(tiny, out, only=["gaussian"])
    with pytest.raises(InvalidArgumentError, match="not in int8 with weights of seven bits"):
        make(tiny, tmp_path / "other", only=["gaussian"], models=tmp_path / "eight")


def test_given_networks_are_as_many_and_as_precise_as_the_row_says(whole, tiny, tmp_path):
    trained, given = whole["out"] / "models" / "sigma-0.25", tmp_path / "given"
    for name in ("gaussian-0", "gaussian-1"):
        shutil.copytree(trained / "gaussian-0", given / name)
    with pytest.raises(
        InvalidArgumentError, match="gaussian-1 hold the same weights, and row soft wants networks of"
    ):
        make(tiny, tmp_path / "copies", models=given, only=["soft"])
    shutil.rmtree(given)
    shutil.copytree(trained / "gaussian-0-int8", given / "gaussian-0")
    with pytest.raises(InvalidArgumentError, match="gaussian-0 is below float32, and row gaussian is about"):
        make(tiny, tmp_path / "rounded", models=given, only=["gaussian"])
    shutil.rmtree(given)  # another network in int8 beside the one that the row wants in int8
    shutil.copytree(trained / "gaussian-0", given / "gaussian-0")
    images = sc.load_dataset("digits", "train", holdout=0)
    quantize(
        trained / "gaussian-1", images, given / "gaussian-0-int8", precision="int8", seven_bits=True, seed=0
    )
    make(tiny, tmp_path / "both", models=given, only=["rounded-group"])
    made = sc.folders.read_card(tmp_path / "both" / "models" / "sigma-0.25" / "gaussian-0-int8")
    assert made.quantized.original_digest == sc.folders.read_card(given / "gaussian-0").digest


def test_a_row_brings_the_network_that_its_own_begins_with(tiny):
    plan = make_plan(load_table(tiny), "minutes", only=["stability"])
    assert {one.name: one.start for one in plan.trainings} == {
        "stability-0": "gaussian-0",
        "gaussian-0": None,
    }


@pytest.mark.parametrize("name", ["../../esc", "a/b", ".hidden", "x" * 101, ""])
def test_names_are_names_of_folders(tiny, tmp_path, name):
    table = yaml.safe_load(Path(tiny).read_text())
    rows = table["parts"]["sigma-0.25"]["rows"]
    rows[name] = rows.pop("stability")
    (tmp_path / "mine.yaml").write_text(yaml.safe_dump(table))
    with pytest.raises(InvalidArgumentError, match="rows"):
        make(str(tmp_path / "mine.yaml"), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_table_of_the_page_can_be_made(tmp_path):
    (block,) = (one for one in blocks_of(ROOT / "docs" / "reproduce.md") if one.language == "yaml")
    (tmp_path / "mine.yaml").write_text(block.text)
    plan = make_plan(load_table(str(tmp_path / "mine.yaml")), "minutes")
    assert [row.name for row in plan.rows] == ["gaussian", "consistency", "three"]
    assert {one.network: one.config.epochs for one in plan.trainings} == {"gaussian": 5, "consistency": 8}
    assert make_plan(plan.table, "paper").budget.votes == 100_000
