"""The printed table: its radii, its marks, intervals, costs and members, against figures counted by hand."""

import math

import numpy as np
import pytest
from scipy.stats import beta

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.certificates.reach import Reach
from smoothcert.report import Summary, common_grid, print_summaries
from smoothcert.report.members import curves_of, members_to_json
from smoothcert.report.tables.cost_columns import time_factor
from smoothcert.report.wording import describe_indices
from smoothcert.workflows import certify_panel
from truth import CENTRE, HalfSpace, half_space


def summary_of(radii, told=None, name="mine"):
    radii = np.asarray(radii, dtype=float)
    zeros = np.zeros(len(radii), dtype=int)
    return Summary(name, Results(np.arange(len(radii)), zeros, zeros, radii), 0.0, told=told)


def rows_of(out):
    """Words of each line of the table by its first word."""
    return {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.strip()}


@pytest.fixture(scope="module")
def staged():
    points = (CENTRE - 0.3 + np.linspace(0, 0.6, 40)[:, None]).astype(np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(40, dtype=np.int64))
    classifier = sc.SmoothedClassifier(half_space(0.3), sc.Gaussian(0.25), 2)
    procedures = {
        "staged": sc.Staged(radius=0.25, stages=(100, 1_000, 1_500)),
        "fixed": sc.FixedSample(n=1_000),
    }
    return {
        name: sc.certify(classifier, dataset, procedure=procedure, seed=2, workers=1)
        for name, procedure in procedures.items()
    }


class TestGrid:
    def test_no_radius_that_was_not_asked(self):
        asked = tuple(round(0.07 * i, 2) for i in range(1, 31))
        grid = common_grid([summary_of([0.7, 1.4], Reach(2.1, asked))])
        assert len(grid) <= 9
        assert set(grid) <= set(asked)
        assert (grid[0], grid[-1]) == (asked[0], asked[-1])

    @pytest.mark.parametrize("count", range(10, 60))
    def test_nine_of_many_at_most(self, count):
        asked = tuple(round(0.07 * i, 2) for i in range(1, count + 1))
        grid = common_grid([summary_of([0.7], Reach(9.0, asked))])
        assert 5 <= len(grid) <= 9
        assert (grid[0], grid[-1]) == (asked[0], asked[-1])
        assert (np.diff(grid) > 0).all()

    def test_even_steps_where_these_were_asked(self):
        asked = tuple(0.05 * i for i in range(21))
        assert common_grid([summary_of([0.7], Reach(1.0, asked))]).tolist() == [0, 0.25, 0.5, 0.75]

    def test_no_column_of_which_nobody_can_speak(self):
        short, long = summary_of([0.3, 0.55], Reach(0.6)), summary_of([0.3], Reach(0.9))
        assert common_grid([short]).tolist() == [0, 0.25, 0.5]
        assert common_grid([short, long]).tolist() == [0, 0.25, 0.5, 0.75]
        assert common_grid([summary_of([], Reach(None))]).tolist() == [0]


def test_intervals_are_clopper_pearson_rounded_outward(capsys):
    summary = summary_of([0.1] * 7 + [0.3] * 3, Reach(0.5))
    print_summaries([summary], np.array([0.2, 0.6]), intervals=True)
    out = capsys.readouterr().out
    low, high = beta.ppf(0.025, 3, 8), beta.ppf(0.975, 4, 7)
    expected = f"{math.floor(low * 1000) / 10:.1f}–{math.ceil(high * 1000) / 10:.1f}"
    lines = [line.split() for line in out.splitlines()]
    place = next(i for i, line in enumerate(lines) if line[:1] == ["mine"])
    assert lines[place] == ["mine", "10", "0.16000", "30.0", "n/p", "0.0"]
    assert lines[place + 1] == [expected]
    assert "95% Clopper-Pearson intervals over images" in out
    assert "n/p  not provable" in out


def test_what_early_stopping_saved(staged, capsys):
    summaries = [Summary.of_run(run, name) for name, run in staged.items()]
    print_summaries(summaries, reference=summaries[1])
    out = capsys.readouterr().out
    heading = next(line for line in out.splitlines() if "SampleRF" in line)
    assert heading.split()[-5:] == ["SampleRF", "TimeRF", "ASR1", "ASR2", "ASR3"]
    votes = np.array(staged["staged"].column("samples"))
    shares = [f"{100 * np.mean(votes == count):.1f}" for count in (200, 1_200, 2_700)]
    factor = math.floor(100 * 100_100 / votes.mean()) / 100
    times = [np.mean(run.column("seconds")) for run in staged.values()]
    saved = math.floor(100 * times[1] / times[0]) / 100
    assert rows_of(out)["staged"][-5:] == [f"{factor:.2f}", f"{saved:.2f}", *shares]
    assert rows_of(out)["fixed"][-2:] == ["1100", "1.00"]  # CERTIFY itself saves nothing
    assert time_factor(summaries[0], summaries[1]) == pytest.approx(times[1] / times[0])
    assert time_factor(summary_of([0.5]), summaries[1]) is None


def test_the_papers_acr_of_the_envelope_is_the_best_members(capsys):
    """Two members whose curves cross: one certifies more images, the other larger radii."""
    members = (summary_of([0.2, 0.2, 0.2, 0.2], Reach(1.0), "a"), summary_of([1.0, 0, 0, 0], Reach(1.0), "b"))
    envelope, average = curves_of(summary_of([0.5], Reach(1.0)), members)
    assert envelope.average_radius() == pytest.approx(max(0.2, 0.25))
    assert envelope.area() == pytest.approx(0.2 * 1.0 + 0.8 * 0.25)
    assert average.average_radius() == pytest.approx(average.area()) == pytest.approx(0.225)
    told = envelope.to_json([0.0, 0.5, 2.0])
    assert told["acr"] == envelope.average_radius()
    assert told["area_under_curve"] == envelope.area()
    assert told["certified_accuracy"] == {"0.00": 1.0, "0.50": 0.25, "2.00": None}


def test_both_stand_in_the_table(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    voting = sc.VotingEnsemble([HalfSpace(margin) for margin in (0.1, 0.3)])
    panel = sc.Panel([voting], ["a", "b", "soft"]).eval()
    points = (CENTRE + np.linspace(-0.2, 0.2, 12)[:, None]).astype(np.float32)
    dataset = sc.Dataset.from_arrays(points, np.ones(12, dtype=np.int64))
    classifier = sc.SmoothedClassifier(panel, sc.Gaussian(0.25), 2)
    outs = dict.fromkeys(panel.names)
    runs = certify_panel(classifier, dataset, outs=outs, procedure=sc.FixedSample(n=500), seed=1, workers=1)
    summaries = [Summary.of_run(run, name) for name, run in runs.items()]
    print_summaries(summaries)
    out = capsys.readouterr().out
    best = max(summary.results.average_radius() for summary in summaries[:2])
    assert rows_of(out)["envelope"][2] == f"{math.floor(best * 1e5) / 1e5:.5f}"
    area = members_to_json(summaries[2], summaries)["upper_envelope"]["area_under_curve"]
    assert rows_of(out)["area"][2] == f"{math.floor(area * 1e5) / 1e5:.5f}"
    assert "Its ACR is the best member's, as papers count it" in out


@pytest.mark.parametrize(
    ("chosen", "told"),
    [([4], "image 4"), (range(0, 9, 3), "images 0 to 6, every 3rd"), (range(5), "images 0 to 4")],
)
def test_chosen_images_are_told_in_words(chosen, told):
    assert describe_indices(np.array(chosen)) == told
