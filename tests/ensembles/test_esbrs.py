"""EsbRS: moments against NumPy, weights against closed form and grid, and why per-input weights prove nothing."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from torch import nn

import smoothcert as sc
from smoothcert.bounds import clopper_pearson_lower
from smoothcert.data import Dataset
from smoothcert.ensembles import (
    MarginMoments,
    PerInputEsbrs,
    Perturbation,
    fit_esbrs,
    margin_moments,
    mixing_helps,
    solve_esbrs,
    success_bound,
)
from smoothcert.ensembles.weights.esbrs import FLOOR, class_factors
from smoothcert.ensembles.weights.margins import perturbed
from smoothcert.errors import InvalidArgumentError, ModelOutputError

CLASSES, PIXELS = 4, 6
NO_CHANGE = Perturbation(copies=50, members=2, scale=0.0)


def members(count, seed=0):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return [nn.Linear(PIXELS, CLASSES).eval().requires_grad_(False) for _ in range(count)]


def images(count=5):
    return torch.rand(count, PIXELS, generator=torch.Generator().manual_seed(2))


def labels(count=5):
    return torch.arange(count) % CLASSES


def random_moments(rng, count, classes=3, number=4):
    """Moments of made-up margins, with some mean margins below zero."""
    root = rng.normal(size=(number, classes, count, count)) * 0.2
    return MarginMoments(
        mean=rng.uniform(-0.3, 0.9, size=(number, count, classes)),
        covariance=root @ root.swapaxes(2, 3),
        classes=rng.integers(0, classes, number),
    )


def objective(moments, weights):
    """From the definition, in loops: at every image a mean over the other classes, weighted by a_c."""
    total = 0.0
    for image, y in enumerate(moments.classes):
        others = [c for c in range(moments.mean.shape[2]) if c != y]
        a = {c: max(moments.mean[image, :, c].min(), FLOOR) ** -2 for c in others}
        spread = {c: weights @ moments.covariance[image, c] @ weights for c in others}
        total += sum(a[c] * spread[c] for c in others) / sum(a.values())
    return total / len(moments.classes)


def test_an_image_that_a_member_gets_wrong_counts_like_any_other():
    """One hopeless image against three clear ones, each in favour of another member: one vote in four, not 96%."""
    clear, hopeless = np.diag([1.0, 3.0]), np.diag([3.0, 1.0])
    covariance = np.zeros((4, 2, 2, 2))
    covariance[:3, 1], covariance[3, 1] = clear, hopeless
    mean = np.zeros((4, 2, 2))
    mean[:3, :, 1], mean[3, :, 1] = 0.9, -0.5
    moments = MarginMoments(mean, covariance, np.zeros(4, dtype=np.int64))
    np.testing.assert_allclose(class_factors(moments), [[0, 1]] * 4)
    np.testing.assert_allclose(solve_esbrs(moments).weights, [2.5 / 4, 1.5 / 4], rtol=1e-9)


def test_two_members_have_the_closed_form():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(50):
        moments = random_moments(rng, 2, number=1)
        a = class_factors(moments)[0]
        b, c, d = (
            factor * moments.covariance[0, :, row, column]
            for factor, row, column in ((1, 0, 0), (2, 0, 1), (1, 1, 1))
        )
        top, middle = (a * (b - c + d)).sum(), (a * (c - 2 * d)).sum()
        first = np.clip(-middle / (2 * top), 0, 1)
        inside += 0 < first < 1
        fit = solve_esbrs(moments)
        np.testing.assert_allclose(fit.weights, [first, 1 - first], atol=1e-8)
        assert fit.objective == pytest.approx(objective(moments, np.array(fit.weights)), rel=1e-9)
    assert 5 < inside < 45  # both kinds occurred


@pytest.mark.parametrize("count, steps", [(2, 1_000), (3, 100)])
def test_no_weights_of_a_grid_are_better(count, steps):
    rng = np.random.default_rng(count)
    points = [
        np.array((a, b, steps - a - b)[-count:]) / steps
        for a in range(steps + 1 if count == 3 else 1)
        for b in range(steps + 1 - a)
    ]
    points = [point for point in points if abs(point.sum() - 1) < 1e-9]
    for _ in range(3):
        moments = random_moments(rng, count, number=2)
        fit = solve_esbrs(moments)
        matrix = np.einsum("nc,nckl->kl", class_factors(moments), moments.covariance) / 2
        values = np.array([point @ matrix @ point for point in points])
        assert fit.objective <= values.min() + 1e-6
        assert fit.objective <= min(fit.uniform_objective, fit.best_member_objective) + 1e-12
        assert fit.uniform_objective == pytest.approx(objective(moments, np.full(count, 1 / count)))


def test_moments_are_those_of_paired_margins():
    parts = members(3)
    found = margin_moments(parts, images(), labels(), sc.Gaussian(0.5), seed=4, how=NO_CHANGE)
    assert found.covariance.shape == (5, CLASSES, 3, 3)
    spy = Logits().eval()
    margin_moments([spy], images(), labels(), sc.Gaussian(0.5), seed=4, how=NO_CHANGE)
    for image in range(5):
        noisy = Logits.seen[image]
        p = np.stack([softmax(part(noisy).double().numpy(), axis=1) for part in parts])
        z = p[:, :, [int(labels()[image])]] - p
        np.testing.assert_allclose(found.mean[image], z.mean(axis=1), atol=1e-6)
        for c in range(CLASSES):
            expected = np.cov(z[:, :, c], bias=True)
            np.testing.assert_allclose(found.covariance[image, c], expected, atol=1e-6)
        assert found.mean[image, :, labels()[image]].tolist() == [0, 0, 0]


class Logits(nn.Module):
    """Remembers the noisy copies of every image, 50 each; on the class, because perturbed members are copies."""

    seen: tuple = ()

    def forward(self, batch):
        Logits.seen = batch.reshape(-1, 50, PIXELS).clone()
        return batch[:, :CLASSES]


def test_perturbations_shift_a_share_of_the_weights():
    layer = nn.Linear(300, 300).eval()
    how = Perturbation(share=0.3, scale=0.01)
    changed = perturbed(layer, how, torch.Generator().manual_seed(1))
    shift = (changed.weight - layer.weight).detach()
    moved = shift != 0
    assert abs(float(moved.float().mean()) - 0.3) < 0.01
    assert abs(float(shift[moved].std()) - 0.01) < 2e-4
    same = perturbed(layer, how, torch.Generator().manual_seed(1))
    assert torch.equal(same.weight, changed.weight)
    part = members(1)[0]
    before = part.weight.clone()
    wide = margin_moments(
        [part],
        images(),
        labels(),
        sc.Gaussian(0.01),
        seed=1,
        how=Perturbation(share=1.0, scale=0.3),
    )
    still = margin_moments([part], images(), labels(), sc.Gaussian(0.01), seed=1, how=NO_CHANGE)
    assert wide.covariance.sum() > 10 * still.covariance.sum()
    assert torch.equal(part.weight, before)


def test_a_fit_prefers_the_steady_member_and_repeats():
    steady, shaky = members(2)
    shaky.weight.mul_(4.0)
    steady.weight.mul_(0.1)
    dataset = Dataset.from_arrays(images(30).numpy(), labels(30).numpy(), split="holdout")
    told = []
    fit = fit_esbrs(
        [shaky, steady],
        dataset,
        sc.Gaussian(0.5),
        seed=3,
        images=20,
        on_progress=lambda *done: told.append(done),
    )
    assert fit.weights[1] > 0.9
    assert told[-1] == (20, 20)
    assert fit_esbrs([shaky, steady], dataset, sc.Gaussian(0.5), seed=3, images=20) == fit


def test_members_that_never_vary_share_equally():
    moments = MarginMoments(np.full((2, 3, 2), 0.5), np.zeros((2, 2, 3, 3)), np.zeros(2, dtype=np.int64))
    np.testing.assert_allclose(solve_esbrs(moments).weights, [1 / 3] * 3, atol=1e-9)


def test_the_bound_holds_for_the_samples_it_is_made_from():
    rng = np.random.default_rng(5)
    useful = 0
    for members_count in (1, 2, 5):
        for spread in (0.1, 0.3, 1.0):
            z = 0.6 + spread * (rng.normal(size=(4_000, 1, 2)) + rng.normal(size=(4_000, members_count, 2)))
            covariance = [np.atleast_2d(np.cov(z[:, :, c].T, bias=True)) for c in range(2)]
            alpha = [np.diag(one).max() for one in covariance]
            off = ~np.eye(members_count, dtype=bool)
            beta = [one[off].max() if members_count > 1 else 0.0 for one in covariance]
            bound = success_bound(alpha, beta, z.mean(axis=0).min(axis=0), members_count)
            assert bound <= (z.mean(axis=1) > 0).all(axis=1).mean()
            useful += bound > 0.5
    assert useful >= 3


def test_mixing_helps_where_members_vary_apart():
    assert success_bound([0.1], [0.02], [0.5], 5) == pytest.approx(1 - (0.02 + 0.08 / 5) / 0.25)
    assert mixing_helps([0.1], [0.02], [0.5])
    assert not mixing_helps([0.02], [0.1], [0.5])
    assert success_bound([0.02], [0.1], [0.5], 5) < success_bound([0.02], [0.1], [0.5], 1)
    assert mixing_helps([0.1, 0.1], [0.05, 0.12], [0.5, 0.9])
    assert not mixing_helps([0.1, 0.1], [0.05, 0.12], [0.9, 0.2])


class OneSided(nn.Module):
    """Sure of its class everywhere, wavering only in the half of the images that is the other member's."""

    def __init__(self, answer):
        super().__init__()
        self.answer = answer

    def forward(self, batch):
        value = batch.flatten(1)[:, 0]
        foreign = value > 0.5 if self.answer == 0 else value < 0.5
        sure = torch.where(foreign & (torch.sin(40 * value) > 0), 1.0, 2.0)
        return torch.stack([sure, -sure] if self.answer == 0 else [-sure, sure], dim=1)


def test_per_input_weights_claim_two_classes_within_each_others_radius():
    parts = [OneSided(0).eval(), OneSided(1).eval()]
    paper = PerInputEsbrs(parts, sc.Gaussian(0.25), seed=1, how=Perturbation(copies=400, members=1))

    def bound(successes, trials):
        return clopper_pearson_lower(successes, trials, 0.001)

    left, right = torch.tensor([0.35]), torch.tensor([0.65])
    one, two = paper.claim(left, bound=bound), paper.claim(right, bound=bound)
    distance = float((left - right).norm())
    assert (one.predicted, two.predicted) == (0, 1)
    assert min(one.claimed_radius, two.claimed_radius) > distance  # each says that the other is impossible
    assert not one.is_certificate
    assert not two.is_certificate
    # Fixed weights, fitted to both, cannot contradict themselves.
    dataset = Dataset.from_arrays(torch.stack([left, right]).numpy(), np.array([0, 1]), split="holdout")
    fit = fit_esbrs(parts, dataset, sc.Gaussian(0.25), seed=1)
    fixed = sc.SmoothedClassifier(
        sc.VotingEnsemble(parts, "softmax", fit.weights).eval(), sc.Gaussian(0.25), 2
    )
    found = [
        fixed.certify(point, sc.FixedSample(n=1_000), seed=1, workers=1, engine="torch")
        for point in (left, right)
    ]
    claims = [one for one in found if one.is_certified and one.radius > distance]
    assert len({one.predicted for one in claims}) <= 1


def test_per_input_weights_have_no_certificates():
    paper = PerInputEsbrs(members(2), sc.Gaussian(0.25), seed=1)
    with pytest.raises(InvalidArgumentError, match="no function of the noisy image and has no certificates"):
        sc.SmoothedClassifier(paper, sc.Gaussian(0.25), CLASSES)


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"copies": 0}, "copies must be a positive integer, got 0"),
        ({"members": 1.5}, "members must be a positive integer, got 1.5"),
        ({"copies": 1, "members": 1}, "at least 2"),
        ({"share": 1.1}, r"share must lie in \[0, 1\]"),
        ({"scale": float("nan")}, "scale must be finite"),
    ],
)
def test_wrong_perturbations_are_refused(settings, message):
    with pytest.raises(InvalidArgumentError, match=message):
        Perturbation(**settings)


def half(successes, trials):
    return successes / trials


def test_claims_do_not_depend_on_which_images_are_claimed_together():
    paper = PerInputEsbrs(members(2), sc.Gaussian(0.5), seed=1)
    points = images(20)
    options = {"n": 200, "bound": half}
    whole = list(paper.claims(points.__getitem__, range(20), **options))
    assert list(paper.claims(points.__getitem__, [17, 3], **options)) == [whole[17], whole[3]]
    assert len({claim.weights for claim in whole}) > 10  # chosen at each image


def test_per_input_weights_follow_the_label_where_it_is_given():
    parts, points = members(2), images(6)
    paper = PerInputEsbrs(parts, sc.Gaussian(0.5), seed=1)
    found = paper.weights(points, places=range(6), labels=[2] * 6)
    for place in range(6):
        moments = margin_moments(
            parts, points[place : place + 1], torch.tensor([2]), sc.Gaussian(0.5), seed=1, places=[place]
        )
        np.testing.assert_allclose(found[place], solve_esbrs(moments).weights, atol=1e-6)
    assert found != paper.weights(points, places=range(6))


def test_a_claim_whose_bound_is_half_or_less_names_no_class():
    paper = PerInputEsbrs(members(2), sc.Gaussian(0.5), seed=1)
    claim = paper.claim(images()[0], n=50, bound=lambda *_: 0.5)
    assert (claim.predicted, claim.claimed_radius) == (None, 0.0)


def test_other_mistakes_are_refused():
    with pytest.raises(InvalidArgumentError, match="at least one classifier"):
        margin_moments([], images(), labels(), sc.Gaussian(0.5), seed=1)
    with pytest.raises(InvalidArgumentError, match="member 0 is in train mode"):
        margin_moments([members(1)[0].train()], images(), labels(), sc.Gaussian(0.5), seed=1)
    broken = members(1)
    broken[0].bias.fill_(torch.nan)
    with pytest.raises(ModelOutputError, match="NaN"):
        margin_moments(broken, images(), labels(), sc.Gaussian(0.5), seed=1)
    with pytest.raises(InvalidArgumentError, match="floor must be positive"):
        solve_esbrs(random_moments(np.random.default_rng(1), 2), floor=0.0)
    with pytest.raises(InvalidArgumentError, match="margin above 0"):
        success_bound([0.1], [0.1], [0.0], 2)
    with pytest.raises(InvalidArgumentError, match="of one shape"):
        mixing_helps([0.1], [0.1, 0.1], [0.5])
    with pytest.raises(InvalidArgumentError, match="members must be a positive integer"):
        success_bound([0.1], [0.1], [0.5], 0)
    with pytest.raises(InvalidArgumentError, match="n must be a positive integer"):
        PerInputEsbrs(members(1), sc.Gaussian(0.5), seed=1).claim(images()[0], n=0, bound=min)
