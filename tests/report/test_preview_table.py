"""The preview's table prints a record and runs nothing: every figure is the record's, and advice is for long runs."""

from dataclasses import replace

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.execution import Cost, Forecast, Pilot, RunPreview, Speed, find_rivals
from smoothcert.report import print_preview

ONE, TWO = Speed(1, 1_000.0, 800.0, 1_250.0), Speed(2, 2_000.0, 1_600.0, 2_500.0)


@pytest.fixture
def told():
    fixed, *others = find_rivals(sc.FixedSample(), sc.Gaussian(0.25), 0.001)
    costs = [
        Cost(fixed, Forecast(100_100.0, 100_100.0, 100_100.0)),
        *(Cost(r, Forecast(900.0, 800.0, 1_000.0)) for r in others),
    ]
    pilot = Pilot(1_000, np.array([100, 120]), np.array([128, 128]))
    return RunPreview(costs, (ONE, TWO), ONE, pilot, 1_000, 2.0, "torch", 300.0, 5.0, 1.5)


def test_times_are_votes_over_pace_and_the_start(told):
    quick, slow = told.seconds(told.costs[0])
    assert quick == pytest.approx(2.0 + 1_000 * 100_100 / 1_250)
    assert slow == pytest.approx(2 * 2.0 + 1.1 * 1_000 * 100_100 / 800)
    assert told.seconds(told.costs[0], TWO, 10)[0] == pytest.approx(2.0 + 10 * 100_100 / 2_500)


def test_a_long_run_gets_advice_from_the_record(told, capsys):
    print_preview(told)
    out = " ".join(capsys.readouterr().out.split())  # wherever lines break
    assert "100,100" in out
    assert "engine torch, started and set up in 2.0 s, about 300 MB" in out
    assert "From 128 votes of 2 of the images; nothing was written; --trial-seconds 50 narrows" in out
    for advice in (
        "--every 2: ",
        "--procedure sequential: ",
        "--workers 2: 2.0 times as fast",
        "autocast: 1.5",
    ):
        assert advice in out


def test_a_short_run_gets_none(told, capsys):
    short = replace(told, images=1, pilot=Pilot(2, *[np.array([64, 64])] * 2), costs=told.costs[1:])
    assert not short.is_long
    print_preview(short)
    out = " ".join(capsys.readouterr().out.split())  # wherever lines break
    assert "shorten" not in out
    assert "narrows" not in out
