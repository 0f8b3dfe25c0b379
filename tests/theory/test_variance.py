"""The variance model recovers covariances that Gaussian logits were made with, and observes Eq. 3."""

import numpy as np
import pytest

from smoothcert.errors import InvalidArgumentError
from smoothcert.theory import (
    CLEAN_PARTS,
    MemberLogits,
    ensemble_sizes,
    fit_variance_model,
    observed_ratios,
    variance_ratio,
)
from smoothcert.theory.windows import window_means

MIX_C = np.array([[1.0, 0.0, 0.0], [0.5, 1.0, 0.0], [0.0, -0.3, 0.8]])
MIX_P = np.array([[0.9, 0.0, 0.0], [-0.2, 0.7, 0.0], [0.4, 0.1, 0.6]])


def gaussian_logits(zeta_c, zeta_p, images=400, noises=60, members=6, seed=0, shift=0.0):
    """y_c and y_p with covariances MIX MIX^T in each member and zeta times that between members, c = 0."""
    rng = np.random.default_rng(seed)

    def correlated(zeta, shape):
        common = rng.standard_normal((*shape, 1, 3))
        return np.sqrt(zeta) * common + np.sqrt(1 - zeta) * rng.standard_normal((*shape, members, 3))

    clean = correlated(zeta_c, (images,)) @ MIX_C.T
    noisy = clean[:, None] + shift + correlated(zeta_p, (images, noises)) @ MIX_P.T
    nothing = np.zeros(images, dtype=np.int64)
    return MemberLogits(clean, noisy, np.zeros((images, noises), dtype=np.int64), nothing)


@pytest.mark.parametrize("part", CLEAN_PARTS)
def test_known_covariances_come_back(part):
    model = fit_variance_model(gaussian_logits(0.3, 0.8), part)
    assert model.zeta_p == pytest.approx(0.8, abs=0.01)
    assert model.zeta_c_images == pytest.approx(0.3, abs=0.05)
    assert model.sigma_p == pytest.approx(MIX_P @ MIX_P.T, abs=0.02)
    # Of K members about their own mean: (1 - zeta_c) (K - 1)/K, and the mean over 60 noises adds a little.
    expected = 0.7 * 5 / 6 * (MIX_C @ MIX_C.T) + (part == "mean") * 0.2 * 5 / 6 * (MIX_P @ MIX_P.T) / 60
    assert model.sigma_c == pytest.approx(expected, abs=0.05)


def test_members_about_their_own_mean_always_share_minus_one_over_the_others():
    for zeta in (0.0, 0.9):
        assert fit_variance_model(gaussian_logits(zeta, 0.5, images=5)).zeta_c == pytest.approx(-1 / 5)


def test_a_shift_by_noise_is_an_effect_only_about_the_clean_output():
    logits = gaussian_logits(0.0, 0.5, images=50, shift=2.0)
    moved, centred = fit_variance_model(logits, "clean"), fit_variance_model(logits, "mean")
    assert np.diag(moved.sigma_p) - np.diag(centred.sigma_p) == pytest.approx([4, 4, 4], abs=0.15)
    assert moved.zeta_p > 0.8 > 0.55 > centred.zeta_p


def test_covariances_are_those_of_a_loop():
    logits = gaussian_logits(0.2, 0.6, images=3, noises=7, members=3, seed=4)
    inter = intra = 0
    for image in range(3):
        for a in range(3):
            for b in range(3):
                found = np.cov(logits.noisy[image, :, a].T, logits.noisy[image, :, b].T)[:3, 3:]
                inter, intra = (inter, intra + found / 9) if a == b else (inter + found / 18, intra)
    model = fit_variance_model(logits)
    assert model.sigma_p == pytest.approx(intra, abs=1e-12)
    assert model.zeta_p == pytest.approx(np.median(np.diag(inter) / np.diag(intra)), abs=1e-12)


@pytest.mark.parametrize("part", CLEAN_PARTS)
def test_every_matrix_is_that_of_numpy_on_the_members_side_by_side(part):
    logits = gaussian_logits(0.2, 0.6, images=4, noises=9, members=3, seed=4)
    noisy = (
        logits.noisy + 0.5 * logits.clean[:, None] ** 2
    )  # an effect of noise that depends on the clean output
    logits = MemberLogits(logits.clean, noisy, logits.answers, logits.labels)
    y_c = noisy.mean(axis=1) if part == "mean" else logits.clean
    y_p = noisy - y_c[:, None]
    freedom = 8 if part == "mean" else 9
    # Of all members' classes at once, (9, 9): blocks on the diagonal are of one member, the others of two.
    noise = sum(np.einsum("na,nb->ab", e, e) for e in y_p.reshape(4, 9, 9)) / (4 * freedom)
    clean = sum(np.outer(c, c) for c in (y_c - y_c.mean(axis=1, keepdims=True)).reshape(4, 9)) / 4
    images = sum(np.outer(c, c) for c in (y_c - y_c.mean(axis=(0, 1))).reshape(4, 9)) / 4
    model = fit_variance_model(logits, part)
    for found, whole in ((model.noise, noise), (model.clean, clean), (model.images, images)):
        blocks = {(a, b): whole[3 * a : 3 * a + 3, 3 * b : 3 * b + 3] for a in range(3) for b in range(3)}
        intra = np.mean([block for (a, b), block in blocks.items() if a == b], axis=0)
        inter = np.mean([block for (a, b), block in blocks.items() if a != b], axis=0)
        assert found.intra == pytest.approx(intra, abs=1e-12)
        assert found.inter == pytest.approx(inter, abs=1e-12)
        assert found.zeta_by_class == pytest.approx(np.diag(inter) / np.diag(intra), abs=1e-12)
        assert found.zeta == pytest.approx(np.median(np.diag(inter) / np.diag(intra)), abs=1e-12)
    # Over members, at each image: np.cov of the classes of y_c beside those of the mean effect.
    cross = [np.cov(c.T, p.mean(axis=0).T, bias=True)[:3, 3:] for c, p in zip(y_c, y_p, strict=True)]
    assert model.clean_noise == pytest.approx(np.mean(cross, axis=0), abs=1e-12)
    total = (model.clean.inter + model.noise.inter, model.sigma_c + model.sigma_p)
    assert model.both.zeta == pytest.approx(np.median(np.diag(total[0]) / np.diag(total[1])))


def test_members_share_the_whole_structure_and_clean_output_is_independent_of_noise():
    """The paper's Figures 10 and 11, on logits for which its model is true."""
    model = fit_variance_model(gaussian_logits(0.3, 0.8), "clean")
    assert model.noise.inter == pytest.approx(0.8 * MIX_P @ MIX_P.T, abs=0.02)
    assert model.images.inter == pytest.approx(0.3 * MIX_C @ MIX_C.T, abs=0.06)
    assert model.clean_noise == pytest.approx(np.zeros((3, 3)), abs=0.02)
    assert model.clean.inter == pytest.approx(-model.clean.intra / 5, abs=1e-12)


def test_covariance_of_clean_output_and_noise_is_seen_unless_it_is_none_by_definition():
    made, tilt = gaussian_logits(0.0, 0.5), np.array([[0.5, 0.0, 0.2], [0.0, -0.4, 0.0], [0.1, 0.0, 0.3]])
    noisy = made.noisy + (made.clean @ tilt.T)[:, None]  # a shift by noise of tilt times y_c
    logits = MemberLogits(made.clean, noisy, made.answers, made.labels)
    seen, none = fit_variance_model(logits, "clean"), fit_variance_model(logits, "mean")
    assert seen.clean_noise == pytest.approx(seen.sigma_c @ tilt.T, abs=0.02)
    assert np.abs(seen.clean_noise).max() > 0.3
    assert none.clean_noise == pytest.approx(np.zeros((3, 3)), abs=1e-12)


@pytest.mark.parametrize("part", CLEAN_PARTS)
@pytest.mark.parametrize("zeta", [0.0, 0.5, 0.9])
def test_observed_ratio_follows_equation_3(zeta, part):
    logits, sizes = gaussian_logits(0.0, zeta, seed=1), ensemble_sizes(6)
    observed = observed_ratios(logits, part, sizes)
    assert (observed.noise[0], observed.clean[0]) == pytest.approx((1, 1), abs=1e-12)
    assert observed.noise == pytest.approx([(1 + zeta * (k - 1)) / k for k in sizes], abs=0.02)
    assert observed.clean == pytest.approx([(6 - k) / (5 * k) for k in sizes], abs=0.05)
    assert (observed.noise_low <= observed.noise).all()
    assert (observed.noise_high >= observed.noise).all()


def test_identical_members_gain_nothing():
    one = gaussian_logits(0.0, 0.0, images=5, members=2)
    noisy = np.repeat(one.noisy[:, :, :1], 3, axis=2) + np.array([0, 1, 2])[:, None] * np.array([0.0, 1, 2])
    logits = MemberLogits(noisy.mean(axis=1), noisy, one.answers, one.labels)
    model = fit_variance_model(logits)
    assert model.zeta_p == pytest.approx(1)
    assert observed_ratios(logits, "mean", [1, 2, 3]).noise == pytest.approx([1, 1, 1])


def test_ratio_and_sizes():
    assert variance_ratio([1, 2, 50], 0.82) == pytest.approx([1, 0.91, (1 + 0.82 * 49) / 50])
    assert ensemble_sizes(3) == (1, 2, 3)
    assert ensemble_sizes(10) == tuple(range(1, 11))
    assert ensemble_sizes(50) == (*range(1, 11), 15, 22, 33, 50)
    assert ensemble_sizes(11)[-2:] == (10, 11)
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        variance_ratio(0, 0.5)


def test_windows_wrap_around_the_circle():
    parts = np.array([[1.0, 2.0, 4.0, 8.0]])
    assert window_means(parts, 2, 1).tolist() == [[1.5, 3.0, 6.0, 4.5]]
    assert window_means(parts, 4, 1).tolist() == [[3.75]]


def test_what_has_no_variance_is_refused():
    logits = gaussian_logits(0.0, 0.0, images=2, noises=3)
    with pytest.raises(InvalidArgumentError, match="clean_part must be one of mean, clean, got 'dirty'"):
        fit_variance_model(logits, "dirty")
    with pytest.raises(InvalidArgumentError, match="at least 2 members, got 1"):
        MemberLogits(logits.clean[:, :1], logits.noisy[:, :, :1], logits.answers, logits.labels)
    with pytest.raises(InvalidArgumentError, match="noisy must be"):
        MemberLogits(logits.clean[:1], logits.noisy, logits.answers, logits.labels)
    still = MemberLogits(logits.clean * 0, logits.noisy * 0, logits.answers, logits.labels)
    with pytest.raises(InvalidArgumentError, match="never differ"):
        fit_variance_model(still)
