"""Results that are kept: rows of tables follow from their certificates, and these are of the networks beside them."""

import json
import math
from pathlib import Path
from statistics import NormalDist

import pytest
from scipy.stats import beta

from smoothcert.certificates import identities
from smoothcert.folders import load_model
from smoothcert.store import read_portable
from smoothcert.workflows.reproducing.library import load_table
from smoothcert.workflows.reproducing.plan import make_plan

HOME = Path(__file__).resolve().parents[1] / "results"
TABLES = sorted(HOME.glob("*/table.json"))
CERTIFICATES = sorted(HOME.glob("*/certificates/**/*.json"))
QUESTIONS = sorted(HOME.glob("*.yaml"))
MOST_BYTES = 25e6  # of the networks that are kept


def named(path):
    return str(path.relative_to(HOME))


def one_radius(found):
    """Whether a row was asked about one radius of the table, so that it has no ACR."""
    return found.run.manifest["procedure"].get("radius") is not None


def test_the_networks_that_are_kept_are_small():
    files = (path for models in HOME.glob("*/models") for path in models.rglob("*"))
    assert sum(path.stat().st_size for path in files if path.is_file()) < MOST_BYTES


def test_no_path_of_a_machine_is_kept():
    for path in HOME.rglob("*.json"):
        assert '"data_dir": "/' not in path.read_text(), path


@pytest.mark.parametrize("file", CERTIFICATES, ids=named)
def test_certificates_are_of_a_kept_classifier(file):
    table, _, part, *_ = file.relative_to(HOME).parts
    row, models = file.stem, HOME / table / "models" / part
    folders = [
        models / f"{row}-0",
        models / "rows" / row,
        *sorted(models.glob("*-int8")),
        *sorted(models.glob("*-0")),
    ]
    known = {identities(load_model(folder)[0].eval())[0] for folder in folders if folder.is_dir()}
    assert read_portable(file).run.manifest["model"] in known


@pytest.mark.parametrize("file", CERTIFICATES, ids=named)
def test_radii_of_certify_follow_from_the_counts(file):
    """By a second formula; those of other procedures are held to their counts whenever a table is made."""
    found = read_portable(file)
    if found.run.manifest["procedure"]["name"] != "fixed":
        return
    sigma, alpha = found.run.manifest["noise"]["sigma"], found.run.manifest["alpha"]
    for row, counts in found.images:
        chosen, bounded = (json.loads(one.votes) for one in counts)
        top, drawn = bounded[chosen.index(max(chosen))], sum(bounded)
        lower = beta.ppf(alpha, top, drawn - top + 1) if top else 0.0
        expected = sigma * NormalDist().inv_cdf(lower) if lower > 0.5 else None
        assert (row.predicted is None) == (expected is None)
        if expected is not None:
            assert row.predicted == chosen.index(max(chosen))
            assert expected * (1 - 1e-6) < row.radius <= expected  # rounded down


@pytest.mark.parametrize("file", TABLES, ids=named)
def test_figures_of_a_table_follow_from_its_certificates(file):
    for part in json.loads(file.read_text())["parts"]:
        for row in part["rows"]:
            if row["own"]["is_envelope"]:
                continue
            found = read_portable(file.parent / "certificates" / part["name"] / f"{row['name']}.json")
            images = found.images
            right = [one.radius for one, _ in images if one.predicted == one.label]
            acr = None if one_radius(found) else pytest.approx(math.fsum(right) / len(images))
            assert row["own"]["acr"] == acr
            assert row["own"]["images"] == len(images)
            for radius, share in row["own"]["certified_accuracy"].items():
                if share is not None:
                    assert share == sum(one >= float(radius) for one in right) / len(images)


def test_the_page_names_what_is_kept():
    text = (HOME / "README.md").read_text()
    for folder in {path.parent for path in (*TABLES, *HOME.glob("*/models"))}:
        assert f"{folder.name}/" in text, f"{folder} stands on no page"


@pytest.mark.parametrize("file", QUESTIONS, ids=named)
def test_tables_that_ask_why_can_be_made_and_stand_on_the_page(file):
    plan = make_plan(load_table(str(file)), "hours")
    assert not plan.left_out
    assert f"({file.name})" in (HOME / "README.md").read_text()
