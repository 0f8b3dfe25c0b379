"""Figures for papers: what they show is reckoned again, files are the same twice, what is missing is told."""

import re

import numpy as np
import pytest
from scipy.stats import norm

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import Summary, group_runs, save_figure, write_paper_figures
from smoothcert.report.figures.acr_figures import acr_over_number_figure, acr_over_time_figure
from smoothcert.report.figures.group_curves import group_accuracy_figure
from smoothcert.report.figures.noise_gap_figure import noise_gap_figure
from smoothcert.report.figures.theory_figure import predicted, predicting_pairs, theory_figure
from smoothcert.report.figures.vote_gap_figure import vote_gap_figure, vote_gaps
from smoothcert.report.paper.acr_series import over_members
from smoothcert.theory import LogProbabilityGaps
from truth import CENTRE, HalfSpace

FIGURES = {
    "certified_accuracy",
    "p_a",
    "votes",
    "vote_gap",
    "log_probability_gap",
    "acr_over_members",
    "acr_over_heads",
    "acr_over_training_time",
    "theory_and_observation",
}
ODD = ["a", "_hidden", "$\\frac{$", "日本 <b>&\x00\n", "path/" * 30]
PLACES = np.linspace(-0.35, 0.45, 12)


def run(model, seed=1, n=200, procedure=None):
    images = np.clip(CENTRE + PLACES[:, None], 0, 1).astype(np.float32)
    dataset = sc.Dataset.from_arrays(images, np.ones(len(PLACES), dtype=np.int64))
    classifier = sc.SmoothedClassifier(model.eval(), sc.Gaussian(0.25), 2)
    procedure = procedure or sc.FixedSample(n0=20, n=n)
    return sc.certify(classifier, dataset, procedure=procedure, seed=seed, workers=1)


@pytest.fixture(scope="module")
def summaries():
    """Three seeds of one kind, and ensembles of two and three of them."""
    members = [HalfSpace(margin) for margin in (0.1, 0.15, 0.4)]
    made = [Summary.of_run(run(one, 10 + k), f"one-seed{k}") for k, one in enumerate(members)]
    for k in (2, 3):
        made.append(Summary.of_run(run(sc.VotingEnsemble(members[:k]), 20 + k), f"of {k}"))
    return made


@pytest.fixture(scope="module")
def groups(summaries):
    return group_runs(summaries)


@pytest.fixture(scope="module")
def both():
    """A short run and a long one of one model."""
    model = HalfSpace(0.1)
    return [Summary.of_run(run(model, 1, n=300), "short"), Summary.of_run(run(model, 2, n=20_000), "long")]


def lines(figure):
    return [line for line in figure.axes[0].lines if len(line.get_xdata())]


def test_the_curve_of_a_group_is_its_mean_and_the_band_its_extremes(groups, summaries):
    figure = group_accuracy_figure(groups)
    line = lines(figure)[0]
    x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    for radius in (0.0, 0.05, 0.2, 0.3):
        at = np.searchsorted(x, radius)
        each = [np.mean(s.results.correct & (s.results.radius >= x[at])) for s in summaries[:3]]
        assert y[at] == pytest.approx(100 * np.mean(each))
    (band,) = figure.axes[0].collections
    vertices = band.get_paths()[0].vertices
    for radius in x[1:-1]:
        each = [100 * np.mean(s.results.correct & (s.results.radius >= radius)) for s in summaries[:3]]
        heights = vertices[np.isclose(vertices[:, 0], radius), 1]
        assert min(each) in np.round(heights, 9) or np.isclose(heights, min(each)).any()
        assert np.isclose(heights, max(each)).any()
    assert "3 seeds" in figure.legends[0].get_texts()[0].get_text()


def test_gaps_are_logarithms_of_counts_with_half_a_vote_each(summaries):
    seen = []
    for made in (summaries[0].run, summaries[2].run):
        for counts, gap, is_alone in zip(made.final_counts, *vote_gaps(made), strict=True):
            other, label = counts.votes.tolist()
            assert gap == pytest.approx(np.log((label + 0.5) / (other + 0.5)))
            assert is_alone == (other == 0)
            seen.append((bool(gap < 0), bool(is_alone)))
    assert {(True, False), (False, False), (False, True)} <= set(seen)


def test_bars_of_the_histogram_hold_every_image_once_and_keep_to_one_side_of_zero(groups):
    figure = vote_gap_figure(groups)
    for axes in figure.axes[: len(groups)]:
        bars = [bar for container in axes.containers for bar in container]
        assert sum(bar.get_height() for bar in bars) == pytest.approx(100)
        ends = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in bars]
        assert all(low > -1e-9 or high < 1e-9 for low, high in ends)
    with pytest.raises(InvalidArgumentError, match="hold none"):
        vote_gap_figure(group_runs([Summary("log", groups[0].members[0].results, 1.0)]))


def test_acr_over_members_has_every_run_and_the_means(summaries):
    (series,) = over_members(summaries, {}).values()
    assert sorted(series) == sorted(
        [(1.0, s.acr) for s in summaries[:3]] + [(2.0, summaries[3].acr), (3.0, summaries[4].acr)]
    )
    means = lines(acr_over_number_figure({"a": series}, what="members"))[0]
    assert list(means.get_xdata()) == [1, 2, 3]
    assert means.get_ydata()[0] == pytest.approx(np.mean([s.acr for s in summaries[:3]]))
    assert over_members(summaries[:3], {}) == {}  # one number is no series
    other = Summary.of_run(run(sc.VotingEnsemble([HalfSpace(0.1), HalfSpace(0.2)]), 5, n=100), "other votes")
    assert over_members([*summaries[:3], other], {}) == {}  # nor runs under other settings
    with pytest.raises(InvalidArgumentError, match="at least one series"):
        acr_over_number_figure({}, what="members")


def test_acr_over_time_stands_at_the_means_in_a_unit_that_suits():
    figure = acr_over_time_figure({"a": [(7200.0, 0.5), (10800.0, 0.7)], "b": [(36000.0, 0.9)]})
    first = lines(figure)[0]
    assert (first.get_xdata()[0], first.get_ydata()[0]) == (pytest.approx(2.5), pytest.approx(0.6))
    assert "hours" in figure.axes[0].get_xlabel()
    assert acr_over_time_figure({"a": [(1.0, 0.5)], "b": [(90.0, 0.9)]}).axes[0].get_xscale() == "log"


class TestTheory:
    """The law of radii from the votes of one run, against another run and against the truth."""

    def test_the_longer_predicts_the_shorter_and_none_itself(self, both):
        assert [(a.name, b.name) for a, b in predicting_pairs(both)] == [("long", "short")]
        assert predicting_pairs(both[:1]) == predicting_pairs([both[0], both[0]]) == []
        elsewhere = Summary.of_run(run(HalfSpace(0.2), 3, n=20_000), "another model")
        assert predicting_pairs([both[0], elsewhere]) == []
        adaptive = run(HalfSpace(0.1), 4, procedure=sc.Sequential(radius=0.1, max_samples=640))
        assert [b.name for _, b in predicting_pairs([*both, Summary.of_run(adaptive, "x")])] == ["short"]

    def test_the_prediction_is_the_exact_expectation_at_the_true_probabilities(self, both):
        radii = np.linspace(0, 0.4, 9)
        law = predicted((both[1], both[0]), radii)
        truth = sc.theory.expected_run(
            norm.cdf((PLACES + 0.1) / 0.25),
            members=1,
            votes=300,
            radii=radii.tolist(),
            alpha=0.001,
            noise=sc.Gaussian(0.25),
        )
        assert law.acr == pytest.approx(truth.acr, abs=0.01)
        np.testing.assert_allclose(law.certified_accuracy, truth.certified_accuracy, atol=0.05)
        assert both[0].acr == pytest.approx(law.acr, abs=0.04)

    def test_both_curves_are_drawn(self, both):
        assert len(lines(theory_figure(predicting_pairs(both)))) == 2


class TestFiles:
    """PDF, SVG and PNG of each figure, and one line about each that is missing."""

    def test_all_that_there_are_data_for(self, groups, tmp_path):
        made = write_paper_figures(groups, tmp_path / "new")
        names = {path.stem for path in made.written}
        assert names == {"certified_accuracy", "p_a", "vote_gap", "acr_over_members"}
        assert {path.name for path in (tmp_path / "new").iterdir()} == {path.name for path in made.written}
        assert sorted(path.suffix for path in made.written) == sorted([".pdf", ".png", ".svg"] * len(names))
        assert set(made.left_out) == FIGURES - names
        assert "--model" in made.left_out["acr_over_heads"]
        assert "seeds of the noise" in made.left_out["theory_and_observation"]
        for path in made.written[-3:]:  # the same bytes twice
            series = over_members([one for group in groups for one in group.members], {})
            save_figure(acr_over_number_figure(series, what="members of the ensemble"), tmp_path / path.name)
            assert (tmp_path / path.name).read_bytes() == path.read_bytes()
        for path in made.written:
            content = path.read_bytes()
            assert b"CreationDate" not in content
            assert b"<dc:date>" not in content
        pdf = (tmp_path / "new" / "p_a.pdf").read_bytes()
        assert pdf.startswith(b"%PDF")
        assert pdf.rstrip().endswith(b"%%EOF")
        assert b"/FontFile2" in pdf  # TrueType, as publishers ask for
        svg = (tmp_path / "new" / "p_a.svg").read_text()
        assert re.search(r"<text[^>]*>of 3</text>", svg)

    def test_gaps_over_noise_are_drawn_where_they_are_given(self, groups, tmp_path):
        gaps = {
            name: LogProbabilityGaps(3, 1, np.random.default_rng(seed).normal(seed, 1, 500))
            for seed, name in enumerate(["a", "<b> $x$"])
        }
        made = write_paper_figures(groups, tmp_path, gaps=gaps)
        assert "log_probability_gap" not in made.left_out
        svg = (tmp_path / "log_probability_gap.svg").read_text()
        share = 100 * (gaps["a"].gaps <= 0).mean()
        assert f"({share:.1f}% misclassified)" in svg
        assert "&lt;b&gt; $x$" in svg
        with pytest.raises(InvalidArgumentError, match="of one image"):
            noise_gap_figure({**gaps, "c": LogProbabilityGaps(4, 1, np.ones(3))})

    def test_logs_get_the_curves_and_are_named_where_they_are_missing(self, summaries, tmp_path):
        log = Summary("published.tsv", summaries[0].results, 1.0)
        made = write_paper_figures(group_runs([log, summaries[3]]), tmp_path)
        assert "hold no votes" in made.left_out["p_a of published.tsv"]
        alone = write_paper_figures(group_runs([log]), tmp_path)
        assert {path.stem for path in alone.written} == {"certified_accuracy"}
        assert set(alone.left_out) == FIGURES - {"certified_accuracy"}
        assert "norm not told by the log" in (tmp_path / "certified_accuracy.svg").read_text()

    def test_norms_are_not_mixed(self, summaries, tmp_path):
        other = Summary.of_run(summaries[0].run.in_norm("linf"), "x")
        with pytest.raises(InvalidArgumentError, match=r"different norms \(l2, linf\)"):
            write_paper_figures(group_runs([summaries[1], other]), tmp_path)
        assert not list(tmp_path.iterdir())

    def test_odd_names(self, summaries, tmp_path):
        groups = group_runs(
            summaries[:3], {name: [one.name] for name, one in zip(ODD[1:], summaries[:3], strict=False)}
        )
        for draw in (group_accuracy_figure, vote_gap_figure):
            save_figure(draw(groups), tmp_path / "a.pdf")
        series = {name: [(1.0, 0.1), (2.0, 0.2)] for name in ODD}
        save_figure(acr_over_number_figure(series, what="x"), tmp_path / "b.pdf")
        save_figure(acr_over_time_figure(series), tmp_path / "c.svg")
        assert "\x00" not in (tmp_path / "c.svg").read_text()
