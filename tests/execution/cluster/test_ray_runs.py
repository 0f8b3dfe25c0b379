"""On a real Ray cluster a run ends with the votes, certificates and exports that threads here give it."""

from threading import Lock

import pytest
import torch

import pieces
import smoothcert as sc
from marks import needs_ray
from small_networks import random_network, small_card
from smoothcert.errors import InvalidArgumentError
from smoothcert.execution.cluster.worker_setup import WorkerSetup
from store.content import content, query

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


class TooDarkError(Exception):
    """An error of the model's own kind, which no other process knows."""


class Picky(pieces.Picky):
    def forward(self, batch):
        answers = super().forward(batch)
        if self.how == "own" and bool(answers.isnan().any()):
            raise TooDarkError("too dark")
        return answers


@pytest.mark.parametrize("how", ["raises", "is no number", "own"])
def test_an_image_that_the_model_cannot_answer_is_recorded_and_the_rest_completes(how, ray, tmp_path):
    model = Picky(how)
    pieces.certified(tmp_path / "here", model)
    run = pieces.certified(tmp_path / "there", model, workers=None, execution=ray, batch_size=640)
    assert tuple(run.failures) == pieces.DARK
    assert run.missing == 0
    assert run.failures == sc.Run.open(tmp_path / "here").failures
    assert content(tmp_path / "here") == content(tmp_path / "there")


def test_shards_that_stop_and_go_on_anywhere_merge_into_the_whole_run(ray, tmp_path):
    long = sc.FixedSample(n0=64, n=6_400)
    whole = pieces.certified(tmp_path / "whole", procedure=long, batch_size=64)
    plan = pieces.planned(tmp_path / "plan.json", procedure=long)
    first = {"shard": "1/2", "out": tmp_path / "first", "batch_size": 64}
    run = sc.certify_shard(pieces.smoothed(), pieces.dataset(), plan, **first, max_votes=5_000, execution=ray)
    assert len(run) + len(query(tmp_path / "first", "SELECT * FROM unfinished")) > 0
    assert run.missing > 0
    sc.certify_shard(pieces.smoothed(), pieces.dataset(), plan, **first, resume=True)
    second = {"shard": "2/2", "out": tmp_path / "second"}
    sc.certify_shard(pieces.smoothed(), pieces.dataset(), plan, **second, execution=ray)
    merged = sc.merge_runs([tmp_path / "first", tmp_path / "second"], tmp_path / "merged")
    assert merged.column("radius") == whole.column("radius")
    assert content(tmp_path / "merged")["votes"] == content(tmp_path / "whole")["votes"]


def test_the_engine_that_was_measured_here_is_the_one_there(classifier, digits, ray, tmp_path, monkeypatch):
    built = []

    def watched(self):
        built.append(self.engine)
        return setup_packed(self)

    setup_packed = WorkerSetup.packed
    monkeypatch.setattr(WorkerSetup, "packed", watched)
    run = sc.certify(
        classifier, digits, indices=[0], procedure=PROCEDURES["fixed"], out=tmp_path / "run", execution=ray
    )
    assert built == [run.manifest["engine"]]
    assert built != ["auto"]


def test_what_cannot_be_sent_is_refused_by_name(digits, ray, tmp_path):
    lock = Lock()
    classifier = smoothed(lambda batch: torch.zeros(len(batch), 10) if lock else None)
    with pytest.raises(InvalidArgumentError, match="cannot be sent to the workers of a cluster"):
        sc.certify(classifier, digits, indices=[0], procedure=PROCEDURES["fixed"], execution=ray)
