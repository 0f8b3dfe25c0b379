"""On a real Ray cluster a run ends with the votes, certificates and exports that threads here give it."""

from threading import Lock

import pytest
import torch

import smoothcert as sc
from marks import needs_ray
from small_networks import random_network, small_card
from smoothcert.errors import InvalidArgumentError
from store.content import content

pytestmark = [pytest.mark.slow, needs_ray]

SEED, IMAGES = 11, range(0, 60, 10)
PROCEDURES = {
    "fixed": sc.FixedSample(n0=32, n=1_000),
    "staged": sc.Staged(radius=0.25, stages=(100, 1_000)),
    "sequential": sc.Sequential(radii=(0, 0.25, 0.5), max_samples=1_000),
    "group": sc.GroupSequential(radius=0.25, n=1_000),
}


def net(seed):
    return random_network(small_card(), seed).eval()


def heads():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return sc.create_model("convnet", num_classes=10, input_shape=(1, 8, 8), heads=3).eval()


def members(rule="soft"):
    return sc.VotingEnsemble([net(seed) for seed in range(3)], rule=rule).eval()


MODELS = {
    "ensemble": lambda: members("hard"),
    "consensus": lambda: sc.ConsensusEnsemble(members(), k=2).eval(),
    "early exit": lambda: sc.AdaptiveEnsemble(members("softmax"), 0.5).eval(),
    "heads": heads,
}


def smoothed(model):
    return sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=10)


def both(classifier, digits, ray, tmp_path, procedure):
    """Contents of the same run made here and on the cluster."""
    options = {"seed": SEED, "indices": IMAGES, "engine": "torch", "procedure": procedure}
    sc.certify(classifier, digits, **options, out=tmp_path / "here")
    sc.certify(classifier, digits, **options, out=tmp_path / "there", execution=ray)
    return content(tmp_path / "here"), content(tmp_path / "there")


@pytest.mark.parametrize("name", PROCEDURES)
def test_every_procedure_ends_as_it_does_here(classifier, digits, ray, tmp_path, name):
    here, there = both(classifier, digits, ray, tmp_path, PROCEDURES[name])
    assert len(here["certificates"]) == len(IMAGES)
    assert here == there


@pytest.mark.parametrize("name", MODELS)
def test_every_kind_of_classifier_votes_as_it_does_here(digits, ray, tmp_path, name):
    here, there = both(smoothed(MODELS[name]()), digits, ray, tmp_path, PROCEDURES["fixed"])
    assert here == there


def test_a_panel_ends_as_it_does_here(digits, ray, tmp_path):
    panel = smoothed(sc.Panel(members()).eval())
    contents = {}
    for place, execution in {"here": None, "there": ray}.items():
        outs = {name: tmp_path / place / name for name in panel.model.names}
        sc.certify_panel(
            panel,
            digits,
            outs=outs,
            seed=SEED,
            indices=IMAGES,
            engine="torch",
            procedure=PROCEDURES["sequential"],
            execution=execution,
        )
        contents[place] = {name: content(out) for name, out in outs.items()}
    assert len(contents["here"]) == 4
    assert contents["here"] == contents["there"]


def test_large_images_go_through_the_object_store(ray, tmp_path):
    images = torch.rand(3, 3, 96, 96, generator=torch.Generator().manual_seed(1))
    dataset = sc.Dataset.from_arrays((images * 255).byte().numpy(), [0, 1, 0], layout="NCHW")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        model = torch.nn.Sequential(torch.nn.AvgPool2d(32), torch.nn.Flatten(), torch.nn.Linear(27, 2)).eval()
    classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.5), num_classes=2)
    options = {"seed": SEED, "engine": "torch", "procedure": sc.FixedSample(n0=32, n=300)}
    sc.certify(classifier, dataset, **options, out=tmp_path / "here")
    sc.certify(classifier, dataset, **options, out=tmp_path / "there", execution=ray)
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_an_audit_draws_votes_again_there(classifier, digits, ray, tmp_path):
    options = {"seed": SEED, "indices": IMAGES, "procedure": PROCEDURES["fixed"]}
    sc.certify(classifier, digits, **options, out=tmp_path / "run")
    report = sc.audit(tmp_path / "run", dataset=digits, fraction=0.5, seed=1, execution=ray)
    assert report.redrawn
    assert not report.findings
    assert report.arithmetic == 0


def test_what_cannot_be_sent_is_refused_by_name(digits, ray, tmp_path):
    lock = Lock()
    classifier = smoothed(lambda batch: torch.zeros(len(batch), 10) if lock else None)
    with pytest.raises(InvalidArgumentError, match="cannot be sent to the workers of a cluster"):
        sc.certify(classifier, digits, indices=[0], procedure=PROCEDURES["fixed"], execution=ray)
