"""What a run of a multi-head network says about its heads."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.certificates.identity import ensemble_records, identities
from smoothcert.ensembles import ConsensusEnsemble, TrunkedEnsemble, VotingEnsemble
from smoothcert.report import Summary, consensus_rate, member_curves

HEADS = 3


@pytest.fixture(scope="module")
def network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(2)
        model = sc.create_model("convnet", num_classes=3, heads=HEADS, split="stage3").train()
        with torch.no_grad():
            model(torch.rand(64, 1, 8, 8))
    return model.eval().requires_grad_(False)


def consensus(network):
    return TrunkedEnsemble(network.trunk, ConsensusEnsemble(VotingEnsemble(list(network.heads)), 2))


def certified(model):
    images = np.random.default_rng(1).random((3, 1, 8, 8), dtype=np.float32)
    dataset = sc.Dataset.from_arrays(images, np.zeros(3, dtype=np.int64), class_names=("a", "b", "c"))
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.5), 3)
    return sc.certify(classifier, dataset, procedure=sc.FixedSample(n=300), seed=4, workers=1, engine="torch")


def test_heads_are_named_as_they_are_where_they_are_certified_alone(network):
    alone = [identities(network.head(number))[0] for number in range(HEADS)]
    (plain,) = ensemble_records(network)
    (record,) = ensemble_records(consensus(network))
    assert plain["members"] == record["members"] == alone
    assert len(set(alone)) == HEADS
    assert (plain["evaluations_per_vote"], record["evaluations_per_vote"]) == (HEADS, HEADS)
    assert (record["kind"], record["first_evaluations"]) == ("ConsensusEnsemble", 2)
    assert record["early_exit"] == {"kind": "consensus", "k": 2}


def test_envelope_of_heads_and_consensus_rate_come_from_the_runs(network):
    run = certified(consensus(network))
    votes, evaluations = sum(run.column("samples")), sum(run.column("evaluations"))
    agreed = votes - (evaluations - 2 * votes)  # a vote without consensus costs one more head
    assert consensus_rate(run) == agreed / votes
    assert 0.01 < consensus_rate(run) < 0.99
    heads = [certified(network.head(number)) for number in range(HEADS)]
    curves = list(member_curves([Summary.of_run(one) for one in (*heads, certified(network), run)]))
    assert [curve.name for curve in curves] == ["envelope of 3", "average of 3"]
