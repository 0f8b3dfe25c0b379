"""The benchmark itself: rivals do the work they are timed for, and the arithmetic behind the ratios is right."""

import json
import threading
from pathlib import Path

import numpy as np
import pytest
import torch
from benchmarks import certifyadp_loop, cohen_loop, ensembles, heads, machine, measure, report, run, votes
from benchmarks import shares as shares_file
from benchmarks.art_rival import ArtRival
from benchmarks.bare_forward import BareForward
from benchmarks.networks import Planted, planted_images, settle
from benchmarks.ours import Ours
from scipy.stats import beta, binom, norm
from torch import nn

import smoothcert as sc
from marks import needs_art
from truth import HalfSpace

SIGMA, N0, N = 0.5, 100, 2_000
IMAGE = torch.full((1, 2, 2), 0.5)


class Counting(HalfSpace):
    """Counts the rows it has seen."""

    rows = 0

    def forward(self, batch):
        self.rows += len(batch)
        return super().forward(batch)


def cohen(model, batch):
    torch.manual_seed(0)
    return cohen_loop.certify(model, IMAGE, N, batch, sigma=SIGMA, num_classes=2, n0=N0)


def art(model):
    np.random.seed(0)
    return ArtRival(model, (1, 2, 2), sigma=SIGMA, num_classes=2, n0=N0).certify(IMAGE, N)


def ours(model):
    return Ours(model, IMAGE, engine="torch", workers=1, sigma=SIGMA, num_classes=2).certify(IMAGE, N)


RIVALS = [
    pytest.param(lambda model: cohen(model, 1_000), id="cohen-1000"),
    pytest.param(lambda model: cohen(model, 32), id="cohen-32"),
    pytest.param(ours, id="ours"),
    pytest.param(art, id="art", marks=[needs_art, pytest.mark.filterwarnings("ignore")]),
]


@pytest.mark.parametrize("certify", RIVALS)
def test_all_rivals_certify_the_same_within_sampling_error(certify):
    claim = certify(Counting(SIGMA).eval())
    few, many = binom.ppf([1e-6, 1 - 1e-6], N, norm.cdf(1))
    low, high = (SIGMA * norm.ppf(beta.ppf(0.001, k, N - k + 1)) for k in (few, many))
    assert (claim.predicted, claim.votes) == (1, N0 + N)
    assert low <= claim.radius <= high


@pytest.mark.parametrize("certify", RIVALS)
def test_all_rivals_abstain_at_even_odds(certify):
    claim = certify(Counting(0.0).eval())
    assert (claim.predicted, claim.radius, claim.votes) == (None, 0.0, N0 + N)


@pytest.mark.parametrize("certify", [r for r in RIVALS if r.id != "ours"])
def test_a_rival_runs_as_many_rows_as_it_counts(certify):
    model = Counting(SIGMA).eval()
    assert certify(model).votes == model.rows


@pytest.mark.parametrize("requested, batch", [(1_000, 64), (128, 64), (10, 64), (77, 16)])
def test_the_bare_forward_pass_runs_every_row_on_single_threads(requested, batch):
    seen, threads, lock = [], set(), threading.Lock()

    class Engine:
        def forward(self, rows):
            with lock:
                seen.append(len(rows))
                threads.add(torch.get_num_threads())

    before = torch.get_num_threads()
    assert BareForward(Engine(), IMAGE, workers=2, batch=batch)(requested) == requested
    assert requested <= sum(seen) < requested + 16  # a last batch under 16 rows is filled up
    assert max(seen) <= batch
    assert threads == {1}
    assert torch.get_num_threads() == before


def test_certifyadp_bounds_are_the_published_counts():
    """sigma = r = .25, alpha .001, beta .0001, stages 1,000 / 10,000 / 125,000."""
    needed = norm.cdf(1)
    for n, certify, hopeful in ((1_000, 880, 795), (10_000, 8_538, 8_270), (125_000, 105_607, None)):
        assert cohen_loop.lower_bound(certify, n, 0.001 / 3) > needed
        assert cohen_loop.lower_bound(certify - 1, n, 0.001 / 3) <= needed
        if hopeful is not None:
            assert certifyadp_loop.upper_bound(hopeful, n, 0.0001 / 2) >= needed
            assert certifyadp_loop.upper_bound(hopeful - 1, n, 0.0001 / 2) < needed


@pytest.mark.parametrize("margin, certified", [(3.0, True), (0.2, False)])
def test_certifyadp_stops_early_and_agrees_with_staged(margin, certified):
    torch.manual_seed(0)
    model = Counting(margin * SIGMA).eval()
    claim = certifyadp_loop.certify(model, IMAGE, SIGMA, sigma=SIGMA, num_classes=2)
    staged = sc.SmoothedClassifier(model, sc.Gaussian(SIGMA), 2).certify(
        IMAGE, sc.Staged(radius=SIGMA), seed=0, workers=1, engine="torch"
    )
    assert (claim.predicted, claim.radius, claim.votes) == (staged.predicted, staged.radius, staged.samples)
    assert (claim.predicted is not None, claim.votes) == (certified, 200)


def test_certifyadp_draws_fresh_votes_up_to_its_last_stage():
    torch.manual_seed(0)
    model = Counting(1.01 * SIGMA).eval()
    how = {"sigma": SIGMA, "num_classes": 2, "stages": (100, 1_000, 2_000)}
    claim = certifyadp_loop.certify(model, IMAGE, SIGMA, 500, **how)
    assert (claim.predicted, claim.votes) == (None, 3_200)
    assert model.rows == 3_200


def measured(rival, seconds, drawn):
    return [measure.Measurement("p", "n", rival, i, drawn, s) for i, s in enumerate(seconds)]


def test_medians_and_ratios():
    rows = measured("a", (2.0, 4.0, 9.0), 100) + measured("b", (1.0, 1.0, 3.0), 200)
    assert measure.rate(rows, "b") == measure.Spread(200.0, 200 / 3, 200.0, 3)
    assert measure.ratio(rows, "a", "b") == measure.Spread(6.0, 4.0, 8.0, 3)  # round by round: 4, 8, 6
    assert measure.spread([1.0, 2.0, 4.0, 9.0]).median == 3.0


def test_fixed_cost_and_slope():
    (large,), (small,) = measured("a", (5.0,), 400), measured("a", (2.0,), 100)
    assert measure.cost_of(large, small) == pytest.approx((1.0, 0.01))


def test_rivals_take_turns():
    order = []
    work = {name: (lambda name=name: order.append(name) or len(order)) for name in "ab"}
    rows = measure.alternate("p", "n", work, 2)
    assert order == ["a", "b", "a", "b"]
    assert [(row.rival, row.repetition, row.votes) for row in rows] == [
        ("a", 0, 1),
        ("b", 0, 2),
        ("a", 1, 3),
        ("b", 1, 4),
    ]


@pytest.mark.parametrize("power", [1.0, 1.5])
def test_fitted_exponent(power):
    sizes = [100, 200, 400]
    assert measure.fitted_exponent(sizes, [3 * size**power for size in sizes]) == pytest.approx(power)


@pytest.fixture
def shares(tmp_path):
    """Three sure images, one of them wrong, and one without hope: every law is decided at its first chance."""
    path = tmp_path / "p_a.json"
    path.write_text(json.dumps({"figures": {"p_hat": [1, 1, 1, 0], "correct": [True, True, False, True]}}))
    return shares_file.read_shares(path)


@pytest.mark.parametrize("radius, staged", [(1.0, 100), (3.0, (3 * 11_100 + 100) / 4)])
def test_expected_votes_by_hand(shares, radius, staged):
    """At p = 1 a stage certifies as soon as alpha/4 >= Phi(r)^n: n = 49 at sigma, 6,140 at 3 sigma."""
    rows = {row["procedure"]: row for row in votes.expectations(shares, radius)}
    assert rows["CERTIFYADP"]["votes_without_n0"] == pytest.approx(staged)
    assert rows["CERTIFYADP"]["votes_drawn"] == pytest.approx(staged + 100)
    assert rows["FixedSample"]["votes_drawn"] == 100_100
    assert all(row["certified_accuracy"] == pytest.approx(0.5) for row in rows.values())
    assert rows["FixedSample"]["reduction_as_drawn"] == 1.0
    if radius == 1.0:
        group = rows["GroupSequential"]
        assert group["votes_drawn"] == group["votes_without_n0"] == 64
        assert group["reduction_without_n0"] == pytest.approx(100_000 / 64)
        assert group["reduction_n0_both_sides"] == pytest.approx(100_100 / 164)
        assert group["reduction_as_drawn"] == pytest.approx(100_100 / 64)
        goals = votes.compare(list(rows.values()))
        assert goals["points_against_fixed"] == pytest.approx(0.0)
        assert goals["fewer_than_certifyadp_without_n0"] == pytest.approx(100 / 64)
        assert goals["fewer_than_certifyadp_n0_both_sides"] == pytest.approx(200 / 164)
        assert goals["fewer_than_certifyadp_as_drawn"] == pytest.approx(200 / 64)


def test_certified_accuracy_of_the_fixed_sample_is_binomial():
    p, n = 0.8448, 100_000
    row = votes.expectations(shares_file.Shares(np.array([p]), np.array([True]), "here"), 1.0)[-1]
    counts = np.arange(84_000, 85_500)
    least = counts[beta.ppf(0.001, counts, n - counts + 1) > norm.cdf(1)][0]
    assert row["certified_accuracy"] == pytest.approx(binom.sf(least - 1, n, p), rel=1e-6)
    assert 0.1 < row["certified_accuracy"] < 0.9


def test_a_missing_table_says_how_to_make_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="make evidence ONLY=p_a"):
        shares_file.read_shares(tmp_path / "p_a.json")


def test_planted_images_have_the_planned_probabilities():
    class Small(nn.Module):
        def forward(self, batch):
            return batch.flatten(1)[:, :10]

    planned = [0.5, 0.7, 0.95]
    images = torch.from_numpy(planted_images([*planned, 0.0, 1.0], SIGMA))
    assert 0 <= images.min() <= images.max() <= 1
    torch.manual_seed(0)
    for p, image in zip(planned, images, strict=False):
        counts = cohen_loop.count_votes(Planted(Small()), image, 4_000, 500, sigma=SIGMA, num_classes=10)
        assert counts[:2].sum() == 4_000
        assert abs(int(counts[1]) - 4_000 * p) < 5 * np.sqrt(4_000 * p * (1 - p))


def test_settled_statistics_keep_deep_networks_sane():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = settle(sc.create_model("resnet20", num_classes=10), (3, 32, 32), passes=2, rows=16)
        logits = model(torch.rand(16, 3, 32, 32) + 0.5 * torch.randn(16, 3, 32, 32))
    assert not any(part.training for part in model.modules())
    assert logits.abs().max() < 50
    assert logits.std(dim=0).min() > 0.01


@pytest.mark.slow
def test_heads_are_compared_with_separate_networks(tmp_path, capsys):
    run.main(["--quick", "--only", "heads", "--engine", "torch", "--out", str(tmp_path)])
    part = json.loads((tmp_path / "summary.json").read_text())["parts"]["heads"]
    single, several, separate = (
        part["parameters"][name] for name in (heads.SINGLE, heads.HEADS, heads.SEPARATE)
    )
    assert separate == 5 * single
    assert single < several < separate
    flops = part["gigaflops"]
    assert flops[heads.SEPARATE] == pytest.approx(5 * flops[heads.SINGLE])
    assert flops[heads.SINGLE] < flops[heads.HEADS] < flops[heads.SEPARATE]
    assert part["time_over_separate"][heads.SEPARATE]["median"] == 1.0
    drawn = {line.split(",")[4] for line in (tmp_path / "heads.csv").read_text().splitlines()[1:]}
    assert drawn == {str(part["votes"])}  # everybody drew the same number
    assert "at most 0.5" in capsys.readouterr().out


@pytest.mark.slow
def test_members_disagree_as_often_as_planned_and_are_timed(tmp_path, capsys):
    several, image = ensembles.members("lenet")
    noisy = image + SIGMA * torch.randn((1_500, *image.shape), generator=torch.Generator().manual_seed(1))
    first, second, *others = (member(noisy).argmax(dim=1) for member in several)
    assert (first != second).double().mean().item() == pytest.approx(ensembles.DISAGREE, abs=0.03)
    assert all(torch.equal(first, other) for other in others)
    run.main(["--quick", "--only", "ensembles", "--out", str(tmp_path), "--engine", "torch"])
    found = json.loads((tmp_path / "summary.json").read_text())["parts"]["ensembles"]["networks"]["lenet"]
    assert found["evaluations_per_vote"] == pytest.approx(2 + 3 * ensembles.DISAGREE, abs=0.2)
    assert "| lenet |" in capsys.readouterr().out


def test_a_busy_machine_is_named():
    assert machine.load_warning(0.05) is None
    assert "0.60" in machine.load_warning(0.6)
    assert machine.describe()["cores"] >= 1
    assert machine.peak_gflops(0.01, size=64, repetitions=1).median > 0


def test_goals_are_not_rounded_into_reach():
    assert report.verdict(1.1, most=1.1) == "at most 1.1: reached"
    assert report.verdict(1.1001, most=1.1) == "at most 1.1: NOT reached"
    assert report.verdict(2.4999, least=2.5) == "at least 2.5: NOT reached"
    assert report.verdict(7.0) == "no goal"


def test_the_readme_has_one_place_for_results():
    page = Path(run.FOLDER, "README.md").read_text()
    once = report.replace_results(page, "new table")
    assert report.replace_results(once, "new table") == once
    assert f"{report.BEGIN}\nnew table\n{report.END}" in once


def test_one_part_runs_end_to_end_and_leaves_the_others(tmp_path, capsys):
    report.write_summary(tmp_path / "summary.json", {"parts": {"memory": {"kept": True}}})
    run.main(["--quick", "--only", "votes", "--out", str(tmp_path)])
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["parts"]["memory"] == {"kept": True}
    assert [r["radius_in_sigma"] for r in summary["parts"]["votes"]["radii"]] == [1.0, 2.0, 3.0]
    assert len((tmp_path / "votes.csv").read_text().splitlines()) == 1 + 3 * 4
    assert "### Votes" in capsys.readouterr().out


def test_startup_starts_the_commands_that_it_names():
    from benchmarks import startup

    assert startup._command("import smoothcert")[1:] == ["-c", "import smoothcert"]
    assert startup._command("smoothcert analyze log.tsv")[1:] == ["-m", "smoothcert", "analyze", "log.tsv"]
    shares = {name: {"median": 0.1, "low": 0.1, "high": 9.0} for name in startup.MOST}
    assert "NOT reached" not in startup.render({"torch_seconds": 2.0, "shares": shares})
    shares["import smoothcert"] = {"median": 0.2, "low": 0.1, "high": 9.0}
    assert "at most 0.15: NOT reached" in startup.render({"torch_seconds": 2.0, "shares": shares})


@pytest.mark.slow
def test_a_service_under_load_answers_without_errors(tmp_path, capsys):
    run.main(["--quick", "--only", "serving", "--engine", "torch", "--out", str(tmp_path)])
    part = json.loads((tmp_path / "summary.json").read_text())["parts"]["serving"]
    assert part["errors"] == 0
    assert part["predictions"] > 0
    assert part["served_votes_per_cpu_second"] > 0
    assert "### Serving" in capsys.readouterr().out
