"""Paired comparisons: counts by hand, the sentence against chance, and what is refused or not compared."""

import math
from functools import cache

import numpy as np
import pytest
from scipy.stats import ttest_rel

import smoothcert as sc
from smoothcert.bounds import paired_difference_interval
from smoothcert.certificates import Note, Results
from smoothcert.certificates.reach import Reach
from smoothcert.report import Summary, compare_summaries, comparison_to_json
from smoothcert.report.comparing import compare as compare_module

ALL = Reach(10.0)
CACHED = cache(paired_difference_interval)


def summary_of(radii, told=ALL, name="mine", wrong=(), first=0):
    """A summary of images whose radii are given, some of them of the wrong class."""
    radii = np.asarray(radii, dtype=float)
    labels = np.ones(len(radii), dtype=int)
    predicted = np.where(np.isin(np.arange(len(radii)), wrong), 2, labels)
    return Summary(
        name, Results(np.arange(first, first + len(radii)), labels, predicted, radii), 0.0, told=told
    )


def compared(a, b, radii=(0.5,), **options):
    return compare_summaries(a, b, **{"radii": radii, "confidence": 0.95, "common": False, **options})


@pytest.fixture
def quick(monkeypatch):
    """The same counts come up again and again in drawn runs."""
    monkeypatch.setattr(compare_module, "paired_difference_interval", CACHED)


def test_counts_shares_and_levels():
    """Five images by hand: a wrong class counts as nothing, however large its radius."""
    a = summary_of([1.0, 1.0, 0.2, 0.6, 0.0], wrong=[0])
    b = summary_of([1.0, 0.4, 0.7, 0.6, 0.0])
    found = compared(a, b, [0, 0.5])
    half = found.at[1]
    assert (half.a, half.b, half.only_a, half.only_b) == (0.4, 0.6, 1, 2)
    assert half.difference == pytest.approx(0.2)
    assert half.interval == paired_difference_interval(2, 1, 5, 1 - 0.95)
    assert half.joint == paired_difference_interval(2, 1, 5, (1 - 0.95) / 2)
    assert (found.at[0].only_a, found.at[0].only_b) == (0, 1)
    assert found.acr == pytest.approx((1.8 / 5, 2.7 / 5))
    other = compared(b, a, [0, 0.5]).at[1]
    assert other.interval == (-half.interval[1], -half.interval[0])


def test_order_of_images_does_not_matter():
    a, b = summary_of([1, 0, 1, 0]), summary_of([1, 1, 0, 0])
    order, columns = [2, 0, 3, 1], ("index", "label", "predicted", "radius")
    turned = Summary("b", Results(*(getattr(b.results, name)[order] for name in columns)), 0.0, told=ALL)
    assert compared(a, turned).at == compared(a, b).at


def test_the_interval_of_acr_is_that_of_a_paired_t_test():
    rng = np.random.default_rng(1)
    radii = rng.gamma(2, 0.3, (2, 80))
    found = compared(summary_of(radii[0]), summary_of(radii[1]), confidence=0.9)
    expected = ttest_rel(radii[1], radii[0]).confidence_interval(0.9)
    assert found.acr_interval == pytest.approx((expected.low, expected.high))
    assert compared(summary_of(radii[0]), summary_of(radii[0])).acr_interval is None
    assert compared(summary_of([0.5]), summary_of([0.7])).acr_interval is None


def drawn_runs(gain, rng, images=40):
    """Two runs whose radii share half of what decides them."""
    common, own = rng.uniform(0, 1, images), rng.uniform(0, 1, (2, images))
    return summary_of(common + own[0]), summary_of(common + own[1] + gain)


@pytest.mark.slow
def test_a_conclusion_over_several_radii_is_seldom_false(quick):
    """Of 300 pairs of equal runs at most 5% end in a difference; radius by radius, far more would."""
    rng = np.random.default_rng(3)
    found = [compared(*drawn_runs(0.0, rng), [0.5, 0.75, 1.0, 1.25, 1.5]) for _ in range(300)]
    false = sum(bool(one.a_more or one.b_more) for one in found)
    twin = sum(any(not r.interval[0] <= 0 <= r.interval[1] for r in one.at) for one in found)
    assert false <= 15
    assert twin > 24
    assert all(one.conclusion.startswith("Nothing") != bool(one.a_more or one.b_more) for one in found)


def test_a_real_difference_is_seen(quick):
    rng = np.random.default_rng(4)
    found = [compared(*drawn_runs(0.4, rng), [0.5, 0.75, 1.0, 1.25, 1.5]) for _ in range(40)]
    assert sum(bool(one.b_more) for one in found) > 32
    assert not any(one.a_more for one in found)


class TestSentence:
    def test_more_by_so_many_points(self):
        """80 of 400 images more, none fewer; rounded outward."""
        a, b = summary_of([1.0] * 100 + [0.0] * 300), summary_of([1.0] * 180 + [0.0] * 220)
        low, high = paired_difference_interval(80, 0, 400, 1 - 0.95)
        assert compared(a, b, [1]).conclusion == (
            "On images like these B certifies more than A at r = 1, by "
            f"{math.floor(1e4 * low) / 100} to {math.ceil(1e4 * high) / 100} points (95% confidence)."
        )
        turned = compared(b, a, [0, 1])
        assert turned.conclusion.startswith("On images like these A certifies more than B at r = 1, by ")
        assert turned.conclusion.endswith(
            "(95% confidence, for both radii at once); at r = 0 nothing can be concluded."
        )

    def test_one_is_better_near_and_the_other_far(self):
        a = summary_of([0.6] * 300 + [0.0] * 100)
        b = summary_of([1.2] * 200 + [0.0] * 200)
        found = compared(a, b, [0.5, 0.6, 1.0], confidence=0.99)
        assert [one.radius for one in found.a_more] == [0.5, 0.6]
        assert [one.radius for one in found.b_more] == [1.0]
        assert (
            "B certifies more than A at r = 1, and A certifies more than B at r = 0.5 and 0.6 (99%"
            in found.conclusion
        )
        assert "; at r = 1 B certifies " in found.conclusion

    def test_nothing_and_how_many_images_it_would_take(self, quick):
        """3 points of 100 images, 7 of which tell the two apart; so many images have the power that is said."""
        a, b = summary_of([1.0] * 2 + [0.0] * 98), summary_of([0.0] * 95 + [1.0] * 5)
        found = compared(a, b)
        assert found.conclusion.startswith(
            "Nothing can be concluded about certified accuracy: every interval (95% confidence) has 0 in it"
        )
        needed = int(found.conclusion.split("about ")[1].split(" images")[0].replace(",", ""))
        drawn = np.random.default_rng(6).multinomial(needed, [0.05, 0.02, 0.93], 100)
        shown = np.mean(
            [paired_difference_interval(int(x), int(y), needed, 0.05)[0] > 0 for x, y, _ in drawn[:60]]
        )
        assert 0.65 < shown < 0.95

    def test_equal_runs_and_silent_ones(self):
        a = summary_of([1.0, 0.3])
        assert "certify the same images" in compared(a, a).conclusion
        assert compared(a, summary_of([1.0, 0.3], Reach(0.4, (0.4,)))).conclusion.startswith(
            "Nothing can be compared"
        )

    def test_an_unfinished_run_decides_nothing_for_good(self):
        a, b = summary_of([1.0] * 40), summary_of([0.0] * 40)
        manifest = {"indices": list(range(50))}
        unfinished = Summary("b", b.results, 0.0, manifest=manifest, told=ALL)
        found = compared(a, unfinished)
        assert found.conclusion.startswith("Provisional, as a run is unfinished: On images like these A")
        assert "b is unfinished, 10 of its images are missing; hard images end last" in found.remarks[0]


class TestNotCompared:
    def test_what_one_cannot_speak_of_is_never_zero(self):
        """A could prove no more than .8, B asked about .5 alone: none of .25, 1 and 2 may be compared."""
        a = summary_of([0.7] * 50, Reach(0.8))
        b = summary_of([0.5] * 50, Reach(1.5, (0.5,)))
        found = compared(a, b, [0.25, 0.5, 1.0])
        assert [one.notes for one in found.at] == [
            (None, Note.AT_LEAST),
            (None, None),
            (Note.NOT_PROVABLE, Note.NOT_ASKED),
        ]
        assert [one.interval is None for one in found.at] == [True, False, True]
        assert not found.a_more
        told = comparison_to_json(found)["certified_accuracy"]
        assert told["1.00"]["not_compared"] == f"A: {Note.NOT_PROVABLE.value}; B: {Note.NOT_ASKED.value}"
        assert (told["1.00"]["a"], told["1.00"]["difference"], told["1.00"]["only_a"]) == (None, None, None)
        assert told["0.50"]["not_compared"] is None
        # All radii that were to be compared count, for which of them could not follows from the runs.
        assert found.at[1].joint == paired_difference_interval(0, 0, 50, (1 - 0.95) / 3)
        assert found.acr_interval is None
        assert "asked about different radii" in found.acr_obstacle

    def test_averages_of_runs_that_asked_the_same(self):
        reach = Reach(1.5, (0.5, 1.0))
        found = compared(summary_of([0.5, 1, 0], reach), summary_of([1, 1, 0.5], reach), [0.5])
        assert found.acr_obstacle == ""
        assert found.acr_interval is not None

    def test_votes_that_prove_less_are_told(self):
        found = compared(summary_of([0.5, 0.6], Reach(0.8)), summary_of([0.5, 0.9], Reach(1.1)))
        assert any("prove radii up to 0.80000, those of B up to 1.10000" in line for line in found.remarks)


class TestImages:
    def test_other_images_are_refused_unless_told(self):
        a, b = summary_of([1.0] * 10), summary_of([1.0] * 10, first=4, name="yours")
        with pytest.raises(
            sc.errors.InvalidArgumentError, match=r"6 of them the same; give --common \(common=True\)"
        ):
            compared(a, b)
        found = compared(a, b, common=True)
        assert len(found.pairs) == 6
        assert (
            "Only the 6 images that both have are compared; 4 of A and 4 of B are left out." in found.remarks
        )

    def test_no_common_image(self):
        with pytest.raises(sc.errors.InvalidArgumentError, match="have no image in common"):
            compared(summary_of([1.0] * 3), summary_of([1.0] * 3, first=3), common=True)
        with pytest.raises(sc.errors.InvalidArgumentError, match="have no image in common"):
            compared(summary_of([]), summary_of([]), common=True)

    def test_other_labels_are_other_data(self):
        a, b = summary_of([1.0] * 4), summary_of([1.0] * 4)
        b.results.label[2] = 7
        with pytest.raises(sc.errors.InvalidArgumentError, match=r"image 2 has label 1 .* 7 .*1 of 4 images"):
            compared(a, b, common=True)

    def test_other_norms(self):
        a, b = summary_of([1.0], Reach(2.0, norm="l2")), summary_of([1.0], Reach(2.0, norm="l0"))
        with pytest.raises(
            sc.errors.InvalidArgumentError, match=r"radii in l2, .* in l0, which cannot be compared"
        ):
            compared(a, b, common=True)
        assert compared(a, summary_of([1.0])).at[0].interval is not None  # a log that does not tell


@pytest.fixture(scope="module")
def runs():
    data = sc.Dataset.from_arrays(np.linspace([0.1, 0.9], [0.9, 0.1], 12), [1] * 6 + [0] * 6)
    other = sc.Dataset.from_arrays(np.linspace([0.1, 0.8], [0.9, 0.1], 12), [1] * 6 + [0] * 6)
    how = {"procedure": sc.FixedSample(n0=10, n=100), "seed": 1, "workers": 1}

    def run(dataset=data, sigma=0.25, **changes):
        classifier = sc.SmoothedClassifier(lambda x: x[:, :2], sc.Gaussian(sigma), 2, input_shape=(2,))
        return sc.certify(classifier, dataset, **{**how, **changes})

    return {
        "plain": run(),
        "noisy": run(sigma=0.5, alpha=0.01),
        "asked": run(procedure=sc.GroupSequential(radius=0.1, n=200)),
        "other": run(other),
    }


class TestRuns:
    def test_what_differs_is_told(self, runs, tmp_path):
        found = sc.compare(runs["plain"], runs["noisy"], radii=[0.1])
        assert "runs of the same model" in found.remarks[0]
        assert found.remarks[1:3] == (
            "Different noise: A gaussian noise (sigma 0.25), B gaussian noise (sigma 0.5).",
            "Different alpha: A 0.001, B 0.01.",
        )
        asked = sc.compare(runs["plain"], runs["asked"])
        assert any(line.startswith("Different procedure: A fixed (n0 10, n 100") for line in asked.remarks)
        assert asked.acr_obstacle

    def test_a_run_and_the_log_made_of_it_agree(self, runs, tmp_path):
        from smoothcert.store import write_export

        write_export(runs["plain"], "tsv", tmp_path / "plain.tsv")
        found = sc.compare(runs["plain"], tmp_path / "plain.tsv", radii=[0.05, 0.1, 5])
        assert [(one.only_a, one.only_b) for one in found.at] == [(0, 0)] * 3
        assert found.at[2].notes == (Note.NOT_PROVABLE, Note.NOT_PROVABLE)
        assert any(line.startswith("B is a log, which does not tell data set") for line in found.remarks)

    def test_other_data_are_refused(self, runs):
        with pytest.raises(sc.errors.InvalidArgumentError, match="are about different data sets"):
            sc.compare(runs["plain"], runs["other"], common=True)

    @pytest.mark.parametrize(
        ("options", "sentence"),
        [
            ({"b": 3}, "b must be a Run, or the path of a run folder or log"),
            ({"confidence": 1.0}, "confidence must be a probability from 0.5 to below 1"),
            ({"confidence": 95}, "confidence must be a probability from 0.5 to below 1"),
            ({"common": "no"}, "common must be True or False"),
            ({"radii": []}, "radii must hold from 1 to"),
            ({"radii": [-1.0]}, "each of radii must be"),
        ],
    )
    def test_mistakes(self, runs, options, sentence):
        arguments = {"a": runs["plain"], "b": runs["noisy"], **options}
        with pytest.raises(sc.errors.InvalidArgumentError, match=sentence):
            sc.compare(arguments.pop("a"), arguments.pop("b"), **arguments)
