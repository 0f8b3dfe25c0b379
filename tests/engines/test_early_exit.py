"""Every engine keeps the exit of a consensus: the same votes and evaluations as asking image by image."""

import logging

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.engines import Workload, build_engine
from smoothcert.sampling import CHUNK_VOTES, Chunk, Sampler
from smoothcert.seeding import generator_for
from truth import HalfSpace, certify_often, errors, most_errors

IMAGE = torch.rand(1, 8, 8, generator=torch.Generator().manual_seed(0))
NOISE, SEED = sc.Gaussian(0.5), 11
MARGIN = 0.25


def network(seed):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = sc.create_model("convnet", num_classes=10, input_shape=(1, 8, 8)).train()
        for _ in range(3):
            model(torch.rand(32, 1, 8, 8))
    return model.eval().requires_grad_(False)


NETWORKS = [network(seed) for seed in range(3)]


def consensus(k=2):
    return sc.ConsensusEnsemble(sc.VotingEnsemble(NETWORKS, weights=[2, 1, 3]), k).eval()


def plain_votes(one, k=2):
    """Votes by class and evaluations of one chunk, each noisy image by itself."""
    noisy = torch.empty((CHUNK_VOTES, 1, 8, 8))
    NOISE.perturb(one.image, noisy, generator_for(SEED, one.index, one.phase, one.number))
    votes, evaluations = [0] * 10, 0
    for row in noisy[: one.votes]:
        logits = [model(row.expand(16, 1, 8, 8))[0].double().numpy() for model in NETWORKS]
        agree = len({int(one.argmax()) for one in logits[:k]}) == 1
        asked = k if agree else 3
        evaluations += asked
        votes[int(np.average(logits[:asked], axis=0, weights=[2, 1, 3][:asked]).argmax())] += 1
    return votes, evaluations


@pytest.mark.parametrize("name", ["torch", pytest.param("onnx", marks=pytest.mark.slow)])
@pytest.mark.parametrize("batch_size", [50, 256])
def test_votes_and_evaluations_equal_a_slow_reference(name, batch_size):
    engine = build_engine(name, consensus(), 10, IMAGE)
    assert engine.engine_name == name
    assert engine.package == {"torch": None, "onnx": "onnxruntime"}[name]  # for manifests
    sampler = Sampler(engine, NOISE, seed=SEED, batch_size=batch_size)
    chunks = [Chunk(IMAGE * (i % 2), i, "estimate", i, CHUNK_VOTES - 30 * i) for i in range(3)]
    drawn = sampler.draw(chunks)
    for one, found in zip(chunks, drawn, strict=True):
        assert (found.votes[0].tolist(), int(found.evaluations[0])) == plain_votes(one)
    costs = [int(found.evaluations[0]) / one.votes for one, found in zip(chunks, drawn, strict=True)]
    assert all(2 <= cost <= 3 for cost in costs)
    assert any(2 < cost < 3 for cost in costs)


def test_one_row_at_a_time_costs_what_it_costs():
    engine = build_engine("torch", consensus(), 10, IMAGE)
    batch = torch.rand(40, 1, 8, 8, generator=torch.Generator().manual_seed(4)) * 2 - 1
    _, together = engine.checked(batch)
    assert together.shape == (40, 1)
    assert set(together.ravel().tolist()) == {2, 3}
    for row in range(40):
        logits, passes = engine.checked(batch[row : row + 1])
        assert logits.shape == (1, 10)
        assert passes.tolist() == [[int(together[row, 0])]]


def test_consensus_of_all_members_gives_the_votes_of_plain_voting():
    how = {"procedure": sc.FixedSample(n=2_000), "seed": 3, "workers": 1, "engine": "torch"}
    found = [
        sc.SmoothedClassifier(model, NOISE, 10).certify(IMAGE, **how)
        for model in (consensus(3), sc.VotingEnsemble(NETWORKS, weights=[2, 1, 3]).eval())
    ]
    assert found[0].counts == found[1].counts
    assert found[0].evaluations == 3 * 2_100


def test_the_same_counts_whatever_workers_and_batches():
    classifier = sc.SmoothedClassifier(consensus(), NOISE, 10)
    found = [
        classifier.certify(IMAGE, sc.FixedSample(n=2_000), seed=2, engine="torch", workers=w, batch_size=b)
        for w, b in ((1, 50), (1, 1_000), (2, 256))
    ]
    assert found[0].counts == found[1].counts == found[2].counts
    assert 2 * 2_100 < found[0].evaluations < 3 * 2_100
    assert len({one.evaluations for one in found}) == 1


def test_a_panel_keeps_exact_evaluations():
    panel = sc.Panel(consensus())
    engine = build_engine("torch", panel, 10, IMAGE)
    one = Chunk(IMAGE, 0, "estimate", 0, CHUNK_VOTES)
    found = Sampler(engine, NOISE, seed=SEED, batch_size=64).draw([one])[0]
    votes, evaluations = plain_votes(one)
    assert found.votes[3].tolist() == votes
    assert found.evaluations.tolist() == [64, 64, 64, evaluations]


def test_auto_charges_for_every_member():
    """A third of the votes that make others worth trying for one member make them worth trying for three."""
    single, many = NETWORKS[0], sc.ConsensusEnsemble(sc.VotingEnsemble(NETWORKS))
    assert Workload(many, IMAGE, 1_000).most_seconds == Workload(single, IMAGE, 3_000).most_seconds > 0


class Branching(nn.Module):
    def forward(self, batch):
        return NETWORKS[0](batch) if batch.sum() > 0 else NETWORKS[1](batch)


def test_a_member_that_cannot_be_exported_sends_all_to_torch(caplog):
    model = sc.ConsensusEnsemble(sc.VotingEnsemble([Branching().eval(), NETWORKS[1], NETWORKS[2]]), 2)
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        engine = build_engine("onnx", model, 10, IMAGE)
    assert engine.engine_name == "torch"
    assert len([record for record in caplog.records if record.name == "smoothcert"]) == 1
    batch = torch.rand(30, 1, 8, 8, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(engine(batch)[:, 0], model(batch), rtol=0, atol=1e-4)


@pytest.mark.parametrize("target, certified", [(1.002, False), (0.8, True)])
def test_certificates_of_a_consensus_are_true(target, certified):
    """Half-spaces that share a normal: where the first two agree, their class is also that of the truth.

    In the band between the first two all three vote, and the third, which is loud, moves the border from MARGIN
    to the mean of their scores: the consensus is a half-space whose radius is known, and not the first two's.
    """
    parts = [HalfSpace(MARGIN - 0.1), HalfSpace(MARGIN + 0.1), HalfSpace(MARGIN + 0.05, slope=100.0)]
    truth = (2 * MARGIN + 100 * (MARGIN + 0.05)) / 102
    model = sc.ConsensusEnsemble(sc.VotingEnsemble(parts)).eval()
    values = torch.linspace(-1, 2, 400).unsqueeze(1)
    assert torch.equal(model(values).argmax(1), (values[:, 0] > 0.5 - truth).long())
    times, alpha, radius = 300, 0.05, target * truth
    procedure = sc.GroupSequential(radius=radius, n=2_500, beta=0.05)
    results = certify_often(model, sc.Gaussian(0.25), procedure, times=times, alpha=alpha, seed=8)
    assert errors(results, truth) <= most_errors(times, alpha)
    assert (int((results.radius >= radius).sum()) >= 0.9 * times) is certified
