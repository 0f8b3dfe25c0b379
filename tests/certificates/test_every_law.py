"""Every noise law under every procedure, alone and in ensembles: the same contract for all."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.certificates import PROCEDURES
from smoothcert.noise import NOISE_LAWS, noise_from

LAWS = {
    "gaussian": sc.Gaussian(0.25),
    "uniform": sc.Uniform(0.5),
    "laplace": sc.Laplace(0.2),
    "discrete": sc.DiscreteReplacement(0.9, levels=4),
    "grid-gaussian": sc.GridGaussian(0.25),
}
RADIUS = {"l2": 0.1, "l1": 0.1, "l0": 1}
MAKE = {
    "fixed": lambda r: sc.FixedSample(n0=20, n=300),
    "staged": lambda r: sc.Staged(radius=r, stages=(100, 300)),
    "sequential": lambda r: sc.Sequential(radius=r, max_samples=300),
    "group": lambda r: sc.GroupSequential(radius=r, n=300),
}
ANYTIME = {**MAKE, "anytime": lambda r: sc.Sequential(max_samples=300)}


def member(seed):
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return sc.create_model("convnet", num_classes=10, input_shape=(1, 8, 8)).eval()


@pytest.fixture(scope="module")
def models():
    members = [member(seed) for seed in range(3)]
    ensemble = sc.VotingEnsemble(members)
    return {"one": members[0], "soft": ensemble, "consensus": sc.ConsensusEnsemble(ensemble, k=2)}


def test_every_registered_law_and_procedure_is_here():
    assert set(LAWS) == set(NOISE_LAWS)
    assert set(MAKE) == set(PROCEDURES)


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("kind", ["one", "soft", "consensus"])
def test_every_procedure_runs_and_says_in_which_norm(law, kind, models, digits):
    classifier = sc.SmoothedClassifier(models[kind], LAWS[law], 10)
    image = digits.image(0)
    for make in ANYTIME.values():
        certificate = classifier.certify(
            image, make(RADIUS[LAWS[law].norm]), seed=4, workers=1, engine="torch"
        )
        assert certificate.norm == LAWS[law].norm
        assert certificate.evaluations >= certificate.samples
        bound = LAWS[law].for_shape(image.shape)
        assert noise_from(certificate.noise) == bound
        if certificate.is_certified and certificate.procedure["name"] == "fixed":
            assert certificate.radius == bound.radius(certificate.p_lower)


@pytest.mark.parametrize("law", LAWS)
def test_votes_are_the_same_whatever_the_batch_and_the_workers(law, models, digits):
    classifier = sc.SmoothedClassifier(models["soft"], LAWS[law], 10)
    found = [
        sc.certify(
            classifier,
            digits,
            procedure=sc.FixedSample(n0=20, n=200),
            indices=range(3),
            seed=8,
            engine="torch",
            **how,
        )
        for how in ({"workers": 1, "batch_size": 64}, {"workers": 2, "batch_size": 200})
    ]
    for one, two in zip(*(run.final_counts for run in found), strict=True):
        assert np.array_equal(one.votes, two.votes)
    assert found[0].column("radius") == found[1].column("radius")


@pytest.mark.parametrize("law", LAWS)
def test_a_run_resumes_under_every_law(law, models, digits, tmp_path):
    classifier = sc.SmoothedClassifier(models["one"], LAWS[law], 10)
    how = {
        "procedure": sc.FixedSample(n0=20, n=100),
        "engine": "torch",
        "workers": 1,
        "out": tmp_path / "run",
    }
    first = sc.certify(classifier, digits, indices=range(2), seed=8, **how)
    again = sc.certify(classifier, digits, indices=range(2), resume=True, **how)
    assert first.column("radius") == again.column("radius")
    assert first.manifest == again.manifest
