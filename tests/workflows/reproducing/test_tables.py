"""Every shipped table file: what it names exists, its figures are figures, and every table it names has rows."""

import re
from functools import cache

import pytest

from smoothcert.data import DATASETS
from smoothcert.ensembles import VOTING_RULES, WEIGHT_FITS
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.training import load_recipe
from smoothcert.workflows import list_tables, load_table, table_names
from smoothcert.workflows.reproducing.estimate import estimate
from smoothcert.workflows.reproducing.plan import make_plan
from smoothcert.workflows.reproducing.scaled_down import scaled_down
from tiny_table import TINY

load = cache(load_table)
NAMES = table_names()
every_table = pytest.mark.parametrize("name", NAMES)
# What papers and tables must be covered, and by which file.
COVERED = {
    "mnist-methods": ("consistency paper", ["supplement Table 2", "supplement Table 3"]),
    "cifar10-ensembles": ("variance paper", ["Table 1", "Table 8", "Table 11"]),
    "aggregation": ("variance paper", ["Table 10"]),
    "adaptive-consensus": ("variance paper", ["Table 3", "Table 4", "Table 5", "Table 20"]),
    "sween": ("SWEEN paper", ["Table 1", "Table 3", "Table 8"]),
    "advmacer": ("AdvMacer paper", ["Table 1", "Table 2", "Table 3"]),
    "some": ("SOME paper", ["Table 3", "Table 5", "Table 7", "Table 9"]),
    "cifar10-resnet20": ("variance paper", ["Table 8", "Table 11"]),
    "fashion-mnist-methods": ("others' papers", ["ACR at sigma 0.5"]),
    "adaptive-resnet20": ("variance paper", ["Table 4"]),
    "l0-ensembles": ("variance paper", ["Table 17"]),
    "l1-ensembles": ("variance paper", ["Table 19"]),
}


def rows_of(table):
    return [(part, row) for part in table.parts.values() for row in part.rows.values()]


def test_the_papers_tables_are_covered():
    assert set(COVERED) == set(NAMES)
    for name, (paper, tables) in COVERED.items():
        assert load(name).paper == paper
        assert set(tables) <= set(load(name).tables)


@every_table
def test_what_it_names_exists(name):
    table = load(name)
    assert table.dataset in DATASETS
    for network in table.networks.values():
        assert load_recipe(network.recipe).base["dataset"] == table.dataset
    for _, row in rows_of(table):
        assert row.rule is None or row.rule in VOTING_RULES
        assert row.fit is None or row.fit in WEIGHT_FITS
        assert row.exit is None or row.early_exit["kind"]


@every_table
def test_figures_are_figures(name):
    for part, row in rows_of(load(name)):
        told = row.published
        shares = [share for share in told.accuracy if share is not None]
        assert shares == sorted(shares, reverse=True)  # a larger radius is never certified more often
        assert all(0 <= share <= 100 for share in shares)
        if told.acr is None:
            continue
        assert 0 < told.acr < 4
        if len(told.accuracy) == len(part.radii) and None not in told.accuracy and len(shares) > 2:
            # ACR is the area under the curve: between its lower and its upper sums over the radii, and the tail.
            steps = [b - a for a, b in zip(part.radii, part.radii[1:], strict=False)]
            lower = sum(step * share / 100 for step, share in zip(steps, shares[1:], strict=True))
            rounding = 0.0005 * len(shares) * max(steps) + 0.0005  # of what was printed
            assert lower - rounding <= told.acr <= lower + max(steps) * shares[0] / 100 + 4 * shares[-1] / 100


@every_table
@pytest.mark.parametrize("budget", ["minutes", "hours", "paper"])
def test_every_budget_has_a_plan_and_a_price(name, budget):
    plan = make_plan(load(name), budget)
    assert plan.rows
    assert estimate(plan).seconds(2) > 0
    used = {(one.part, one.name): one.config.model_dump() for one in plan.trainings}
    told = scaled_down(plan, used, 10_000)
    assert bool(told) == (budget != "paper")
    if budget == "paper":
        assert len(plan.rows) == len(rows_of(load(name)))


@every_table
def test_budgets_cost_more_and_more(name):
    prices = [estimate(make_plan(load(name), budget)).seconds(2) for budget in ("minutes", "hours", "paper")]
    assert prices == sorted(prices)
    assert prices[0] < 2 * 3600


def test_rows_in_int8_cost_less():
    table = load("cifar10-resnet20")
    hours = table.budgets["hours"]
    in_float32 = table.model_copy(
        update={"budgets": {**table.budgets, "hours": hours.model_copy(update={"int8": ()})}}
    )
    assert hours.int8
    cheap, dear = (estimate(make_plan(one, "hours")) for one in (table, in_float32))
    assert cheap.training == dear.training
    assert dear.certification == pytest.approx(2.5 * cheap.certification)


def test_the_listing_names_every_table_with_its_price():
    rows = list_tables()
    assert [row["name"] for row in rows] == list(NAMES)
    for row in rows:
        assert all(
            re.fullmatch(r"[\d,]+ (min|h|days)", row[budget]) for budget in ("minutes", "hours", "paper")
        )


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(UnknownNameError, match=r"unknown table 'mnist'; known: .*mnist-methods"):
        load_table("mnist")


@pytest.mark.parametrize(
    "old, new, complaint",
    [
        ("radii: [0, 0.25, 0.5]", "radii: [0, 0.5, 0.25]", "radii must increase"),
        ("{members: {stability: 1}", "{members: {other: 1}", "network 'other' is unknown"),
        ("accuracy: [90, 50]", "accuracy: [190, 50]", "less than or equal to 100"),
        ("accuracy: [80, 40]", "accuracy: [80, 40, 30]", "3 accuracies for 2 radii"),
        (
            "tables: [Table 1, Table 2]",
            "tables: [Table 1, Table 2, Table 3]",
            "sigma-0.25|'Table 3' is covered",
        ),
        ("baseline: gaussian", "baseline: gauss", "baseline 'gauss' is unknown"),
        ("sample_reduction: 20", "samples: 20", "figure 'samples' is unknown"),
        ("radius: 0.25", "radius: 0.3", "its radius 0.3 is none of the part's radii"),
        ("paper: {images: {stop: 400}}", "paper: {most_members: 3}", "budget paper leaves nothing out"),
        ("  hours:\n", "  days:\n", "budgets"),
        ("rule: soft", "rules: soft", "rules"),
        ("start: gaussian", "start: gauss", "start 'gauss' is unknown"),
        ("start: gaussian", "start: stability", "begins with another network itself"),
        ("procedure: group", "procedure: groups", "procedure 'groups' is unknown"),
        ("accuracy: [88, 48, 20]", "accuracy: [88, 48]", "the log has 2 accuracies for 3 radii"),
        ("envelope: true", "envelope: true, fit: soft", "an envelope is of several members"),
        ("paper: {images: {stop: 400}}", "paper: {grid: true}", "budget paper leaves nothing out"),
        ("paper: {images: {stop: 400}}", "paper: {int8: [soft]}", "budget paper leaves nothing out"),
        ("votes: 200", "votes: 200\n    int8: [softer]", "row 'softer' is unknown"),
    ],
)
def test_a_wrong_table_is_refused_by_its_fault(tmp_path, old, new, complaint):
    assert old in TINY
    path = tmp_path / "wrong.yaml"
    text = TINY.replace(old, new, 1)
    if "Table 3" in new:
        text = text.replace("  sigma-0.5:\n", "  sigma-0.5:\n    tables: [Table 1]\n")
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match=complaint):
        load_table(str(path))
