"""Which published orders came out: told by the sign of the difference and by its paired interval, from both sides."""

import numpy as np
import pytest

from smoothcert.certificates import Results
from smoothcert.certificates.reach import Reach
from smoothcert.report import Order, Published, ReproducedPart, ReproducedRow, Reproduction, Summary, Verdict
from smoothcert.report.reproduction.orders import published_orders

IMAGES = 200


def row(name, acr, radii):
    labels = np.ones(len(radii), dtype=int)
    found = Results(np.arange(len(radii)), labels, labels, np.asarray(radii, dtype=float))
    summary = Summary(name, found, 0.0, told=Reach(10.0))
    return ReproducedRow(name, name, ("Table 1",), Published(acr), (summary,))


def radii(mean, spread=0.1, seed=0):
    return np.clip(mean + spread * np.random.default_rng(seed).standard_normal(IMAGES), 0, None)


def check_that_orders_are_told(orders_of):
    """The law: an order is said to have come out if, and only if, the own figures have it."""
    weak, strong = radii(0.5), radii(0.5, seed=1) + 0.2
    (right,) = orders_of([row("a", 1.0, weak), row("b", 2.0, strong)])
    assert (right.better, right.worse, right.verdict) == ("b", "a", Verdict.CLEAR)
    (wrong,) = orders_of([row("a", 2.0, weak), row("b", 1.0, strong)])
    assert (wrong.better, wrong.worse, wrong.verdict) == ("a", "b", Verdict.CONTRADICTED)
    (near,) = orders_of(
        [row("a", 1.0, weak), row("b", 2.0, weak + radii(0.001, 1.0, seed=2) - radii(0, 1.0, seed=3))]
    )
    assert near.verdict in (Verdict.LEANING, Verdict.OPEN)
    assert near.verdict.came_out == (near.own > 0)


def test_orders_are_told():
    check_that_orders_are_told(published_orders)


def test_a_twin_that_looks_at_the_size_of_a_difference_alone_fails():
    def blind(rows):
        return [
            Order(one.better, one.worse, one.published, abs(one.own), tuple(sorted(map(abs, one.interval))))
            for one in published_orders(rows)
        ]

    with pytest.raises(AssertionError):
        check_that_orders_are_told(blind)


def test_ties_and_rows_without_an_acr_have_no_order():
    assert (
        published_orders([row("a", 1.0, radii(1)), row("b", 1.0, radii(2)), row("c", None, radii(3))]) == ()
    )


def test_identical_runs_leave_an_order_open():
    (order,) = published_orders([row("a", 1.0, radii(1)), row("b", 2.0, radii(1))])
    assert (order.own, order.interval, order.verdict) == (0.0, None, Verdict.OPEN)


def test_the_line_says_what_did_not_come_out():
    rows = (row("a", 2.0, radii(0.5)), row("b", 1.0, radii(0.8)), row("c", 0.5, radii(0.1)))
    part = ReproducedPart("sigma-1", (0.0, 0.5), rows, "a")
    made = Reproduction(
        "t", "some paper", ("Table 1",), "minutes", (part,), ("all networks: epochs 1 instead of 90",)
    )
    what, down, orders = made.lines
    assert what == "Reproduced: some paper, Table 1: 3 rows (sigma-1), budget minutes."
    assert down == "Scaled down: all networks: epochs 1 instead of 90."
    assert orders.startswith(
        "2 of 3 published orders of ACR among these rows came out, 2 of them with a paired 95% interval"
    )
    assert "of the others, 1 with an interval that excludes the published order: a over b (-0.3" in orders
    good = Reproduction(
        "t", "some paper", ("Table 1",), "paper", (ReproducedPart("p", (0.0,), rows[1:]),), ()
    )
    assert good.lines[1] == "Nothing was scaled down from the paper's settings."
    assert good.lines[2].endswith("excludes 0.")
