"""Figures show what the certificates say, are the same twice, and survive odd data."""

import io
import sys
from dataclasses import replace
from subprocess import run as run_process

import numpy as np
import pytest
from PIL import Image

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.certificates.reach import Reach
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import (
    Summary,
    certified_accuracy_figure,
    figure_svg,
    p_hat_figure,
    save_figure,
    votes_figure,
)
from smoothcert.report.figures.accuracy_curve import accuracy_steps, grid_radii
from truth import half_space, images_on_a_line


def make_run(dataset, procedure=None):
    classifier = sc.SmoothedClassifier(half_space(0.0), sc.Gaussian(0.25), 2)
    procedure = procedure or sc.Sequential(radii=(0, 0.1, 0.2), max_samples=640)
    return sc.certify(classifier, dataset, procedure=procedure, seed=1, engine="auto", workers=1)


@pytest.fixture(scope="module")
def dataset():
    return images_on_a_line()


@pytest.fixture(scope="module")
def run(dataset):
    return make_run(dataset)


@pytest.fixture(scope="module")
def summary(run):
    return Summary.of_run(run, "half-space")


def summary_of(radii, correct=None, name="x"):
    count = len(radii)
    correct = np.ones(count, dtype=bool) if correct is None else np.asarray(correct)
    results = Results(
        np.arange(count), np.zeros(count, int), np.where(correct, 0, 1), np.asarray(radii, float)
    )
    p_hat = np.linspace(0.4, 1, count)
    return Summary(name, results, 1.0, np.arange(1, count + 1) * 64, np.arange(1, count + 1) * 64, p_hat)


def curve(figure, number=0):
    line = [
        line for line in figure.axes[0].lines if len(line.get_xdata()) and line.get_linestyle() != "None"
    ][number]
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata()), line


def test_the_curve_is_certified_accuracy_at_every_radius():
    summary = summary_of([0.0, 0.3, 0.11, 0.3, 0.52, 0.9], [1, 1, 1, 1, 1, 0])
    x, y, line = curve(certified_accuracy_figure([summary]))
    assert line.get_drawstyle() == "steps-pre"
    for radius in (0, 0.05, 0.11, 0.2, 0.3, 0.31, 0.52):
        by_hand = sum(r >= radius and c for r, c in zip([0, 0.3, 0.11, 0.3, 0.52], [1] * 5, strict=True)) / 6
        assert y[np.searchsorted(x, radius)] == pytest.approx(100 * by_hand)
    assert (x[-1], y[-1]) == (0.52, 0)


def test_steps_equal_the_metric_on_random_radii():
    rng = np.random.default_rng(3)
    summary = summary_of(rng.choice(rng.exponential(size=80), 200), rng.random(200) < 0.7)
    radii, share = accuracy_steps(summary.results)
    np.testing.assert_array_equal(share, summary.results.certified_accuracy(radii))
    between = (radii[1:] + radii[:-1]) / 2
    np.testing.assert_array_equal(share[1:], summary.results.certified_accuracy(between))


def test_a_grid_of_radii_is_marked_and_spread_radii_are_not(summary):
    assert set(grid_radii(summary.results)) <= {0.0, 0.1, 0.2}
    marks = [
        line for line in certified_accuracy_figure([summary]).axes[0].lines if line.get_linestyle() == "None"
    ]
    assert len(marks) == 1
    assert set(marks[0].get_xdata()) <= {0.0, 0.1, 0.2}
    assert len(grid_radii(summary_of(np.linspace(0, 1, 60)).results)) == 0


def test_the_last_curve_is_the_strongest_and_all_differ_without_colour():
    summaries = [summary_of(np.linspace(0, 1, 50) * k, name=f"run {k}") for k in range(1, 9)]
    figure = certified_accuracy_figure(summaries)
    lines = figure.axes[0].lines
    assert len({(line.get_linewidth(), str(line._dash_pattern)) for line in lines}) == 8
    assert lines[-1].get_linewidth() > max(line.get_linewidth() for line in lines[:-1])
    assert len(figure.axes[0].collections) == 1  # the band of the last


def test_acr_in_the_legend_is_rounded_down():
    figure = certified_accuracy_figure([summary_of([0.5, 0.7, 0.9999 * 1.8])])
    assert figure.legends[0].get_texts()[0].get_text() == "x  (ACR 0.999)"


def test_p_hat_reaches_one_at_the_right_end():
    x, y, _ = curve(p_hat_figure([summary_of(np.linspace(0, 1, 10))]))
    assert np.isfinite(x).all()
    assert (y[0], y[-1]) == (0, 100)
    assert np.argmax(x) == len(x) - 1
    assert p_hat_figure([replace(summary_of([0.1]), p_hat=np.array([1.0]))])


def test_votes_curve_counts_images_that_needed_more():
    summary = replace(summary_of([0.1] * 4), samples=np.array([64, 640, 64, 1000]))
    x, y, _ = curve(votes_figure([summary]))
    for votes, share in ((1, 100), (63, 100), (64, 50), (640, 25), (1000, 0)):
        assert y[np.searchsorted(x, votes, side="right") - 1] == share


@pytest.mark.parametrize("draw", [certified_accuracy_figure, p_hat_figure, votes_figure])
@pytest.mark.parametrize("name", ["a", "_hidden", "$\\frac{$", "日本 <b>&\x00\n", "path/" * 30])
def test_odd_names_draw_and_svg_is_the_same_twice(draw, name, summary):
    summaries = [summary, replace(summary, name=name)]
    first = figure_svg(draw(summaries))
    assert first == figure_svg(draw(summaries))
    assert "<dc:date>" not in first
    assert "\x00" not in first


def test_logs_without_votes_are_left_out_or_refused(summary):
    log = replace(summary, samples=None, p_hat=None)
    assert len(votes_figure([log, summary]).axes[0].lines) == 1
    for draw in (votes_figure, p_hat_figure):
        with pytest.raises(InvalidArgumentError, match="hold no votes"):
            draw([log])
    with pytest.raises(InvalidArgumentError, match="at least one run"):
        certified_accuracy_figure([])


def test_save_writes_png_and_svg_and_nothing_else(summary, tmp_path):
    figure = votes_figure([summary])
    save_figure(figure, tmp_path / "new" / "a.png")
    assert Image.open(io.BytesIO((tmp_path / "new" / "a.png").read_bytes())).size[0] == 1040
    save_figure(figure, tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text().startswith("<?xml")
    with pytest.raises(InvalidArgumentError, match=r"\.svg or \.pdf, got 'a.jpg'"):
        save_figure(figure, tmp_path / "a.jpg")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.svg", "new"]


def test_importing_the_report_does_not_import_matplotlib():
    code = "import sys, smoothcert.report; sys.exit('matplotlib' in sys.modules)"
    assert run_process([sys.executable, "-c", code], check=False).returncode == 0


class TestEnds:
    """A curve ends where nothing larger can be said, with a mark; it falls to zero only where zero is known."""

    @staticmethod
    def end(figure):
        x, y, line = curve(figure)
        return x[-1], y[-1], line.get_marker() == "|" and line.get_markevery() == [len(x) - 1]

    @staticmethod
    def names(figure):
        return [text.get_text() for text in figure.legends[0].get_texts()]

    def test_where_the_votes_end(self):
        radii = [*np.linspace(0, 0.4, 30), 0.5, 0.5, 0.5]
        figure = certified_accuracy_figure([replace(summary_of(radii), told=Reach(0.5))])
        assert self.end(figure) == (0.5, pytest.approx(100 * 3 / 33), True)
        assert self.names(figure)[1:] == ["nothing larger can be proven by these votes"]

    def test_zero_up_to_what_could_have_been_proven(self):
        figure = certified_accuracy_figure([replace(summary_of(np.linspace(0, 0.4, 30)), told=Reach(0.5))])
        assert self.end(figure) == (0.5, 0, True)
        assert figure.axes[0].get_xlim()[1] > 0.5

    def test_a_log_ends_with_what_it_holds(self):
        figure = certified_accuracy_figure([summary_of(np.linspace(0, 0.4, 30))])
        assert self.end(figure) == (0.4, pytest.approx(100 / 30), True)
        assert self.names(figure)[1:] == ["nothing larger is known from the log"]

    def test_asked_radii_end_with_the_last_that_could_be_proven(self):
        told = Reach(0.3, (0.1, 0.2, 0.3, 0.9))
        figure = certified_accuracy_figure([replace(summary_of([0.1, 0.1, 0.2, 0]), told=told)])
        assert self.end(figure) == (0.3, 0, True)
        marks = next(line for line in figure.axes[0].lines if line.get_linestyle() == "None")
        assert list(marks.get_xdata()) == [0.1, 0.2, 0.3]
        assert list(marks.get_ydata()) == [75, 25, 0]

    def test_no_mark_where_all_that_was_asked_was_answered(self, summary):
        assert self.end(certified_accuracy_figure([summary]))[2] is False

    def test_nothing_provable_at_all(self):
        figure = certified_accuracy_figure([replace(summary_of([0.0], [0]), told=Reach(None))])
        assert self.end(figure) == (0, 0, True)
        assert figure_svg(figure)
