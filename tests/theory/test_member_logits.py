"""Logits of members: what they are, that the seed decides them, and what is refused."""

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from small_networks import save_network
from smoothcert.errors import InvalidArgumentError, ModelOutputError
from smoothcert.folders import save_ensemble
from smoothcert.theory import collect_member_logits, fit_variance_model, study_ensemble

NOISE = sc.Gaussian(0.25)


class Linear(nn.Module):
    """Logits W x: under Gaussian noise they are Gaussian with covariance sigma^2 W W^T, also between members."""

    def __init__(self, weights):
        super().__init__()
        self.weights = torch.as_tensor(weights, dtype=torch.float32)

    def forward(self, batch):
        return batch.flatten(1) @ self.weights.T


def linear_members(count=3, classes=3, values=16, share=0.7, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.standard_normal((classes, values))
    return [
        np.sqrt(share) * common + np.sqrt(1 - share) * rng.standard_normal((classes, values))
        for _ in range(count)
    ]


@pytest.fixture(scope="module")
def dataset():
    images = np.random.default_rng(1).integers(0, 256, (6, 1, 4, 4), dtype=np.uint8)
    return sc.Dataset.from_arrays(images, np.arange(6) % 3)


@pytest.fixture(scope="module")
def weights():
    return linear_members()


def collected(weights, dataset, noises=100, seed=7, indices=(0, 3), **options):
    ensemble = sc.VotingEnsemble([Linear(w) for w in weights], **options).eval()
    return collect_member_logits(ensemble, NOISE, dataset, indices=list(indices), noises=noises, seed=seed)


def test_clean_logits_labels_and_answers(weights, dataset):
    logits = collected(weights, dataset, rule="hard")
    assert logits.noisy.shape == (2, 100, 3, 3)
    assert logits.labels.tolist() == [0, 0]
    for row, index in enumerate((0, 3)):
        pixels = dataset.image(index).flatten().numpy()
        assert logits.clean[row] == pytest.approx(np.stack([w @ pixels for w in weights]), abs=1e-4)
    votes = np.eye(3)[logits.noisy.argmax(axis=3)].sum(axis=2)
    clear = votes.max(axis=2) >= 2  # the answers are those of the ensemble's own rule
    assert (logits.answers == votes.argmax(axis=2))[clear].all()


def test_linear_members_have_the_covariance_of_their_weights(weights, dataset):
    logits = collected(weights, dataset, noises=3_000)
    model = fit_variance_model(logits, "clean")
    intra = 0.25**2 * sum(w @ w.T for w in weights) / 3
    pairs = [weights[a] @ weights[b].T for a in range(3) for b in range(3) if a != b]
    inter = 0.25**2 * sum(pairs) / 6
    assert model.sigma_p == pytest.approx(intra, abs=0.05 * np.abs(intra).max())
    assert model.zeta_p == pytest.approx(np.median(np.diag(inter) / np.diag(intra)), abs=0.03)


def test_the_seed_decides_and_more_noises_keep_the_first(weights, dataset):
    first = collected(weights, dataset, noises=70)
    assert np.array_equal(first.noisy, collected(weights, dataset, noises=70).noisy)
    assert np.array_equal(first.noisy, collected(weights, dataset, noises=200).noisy[:, :70])
    assert not np.array_equal(first.noisy, collected(weights, dataset, noises=70, seed=8).noisy)
    assert np.array_equal(first.noisy[1], collected(weights, dataset, noises=70, indices=(3,)).noisy[0])


def test_mistakes_are_named(weights, dataset):
    with pytest.raises(InvalidArgumentError, match="noises must be an integer of at least 2, got 1"):
        collected(weights, dataset, noises=1)
    with pytest.raises(InvalidArgumentError, match="at least one image"):
        collected(weights, dataset, indices=())
    with pytest.raises(InvalidArgumentError, match="at least 2 members, got 1"):
        collected(weights[:1], dataset)
    with pytest.raises(ModelOutputError, match="NaN or infinite"):
        collected([*weights[:2], np.full((3, 16), np.nan)], dataset)


def save_members(folder, count):
    noise = {"name": "gaussian", "sigma": 0.5}
    return [save_network(folder / f"member-{seed}", seed, noise=noise) for seed in range(count)]


def test_a_folder_is_studied_under_its_own_noise(tmp_path, dataset):
    members = save_members(tmp_path, 3)
    save_ensemble(members, tmp_path / "ensemble")
    holdout = sc.load_dataset("digits", split="holdout")
    study = study_ensemble(tmp_path / "ensemble", holdout, images=4, noises=20, seed=5)
    assert study.noise == sc.Gaussian(0.5)
    assert study.shape == (4, 20, 3, 10)
    assert study.about["indices"] == [0, *study.about["indices"][1:3], len(holdout) - 1]
    assert (study.about["split"], study.about["seed"]) == ("holdout", 5)
    # Soft voting is what the k table is about, so at k = K it is the ensemble itself.
    assert study.parts["mean"].success.observed[:, -1].mean() == pytest.approx(
        study.ensemble_success, abs=1e-9
    )
    with pytest.raises(InvalidArgumentError, match="holds a single model"):
        study_ensemble(members[0], holdout)
    with pytest.raises(InvalidArgumentError, match="takes images of shape"):
        study_ensemble(tmp_path / "ensemble", dataset)
    with pytest.raises(InvalidArgumentError, match="images must be an integer of at least 1, got 0"):
        study_ensemble(tmp_path / "ensemble", holdout, images=0)
