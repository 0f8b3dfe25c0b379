"""Every engine runs a network with heads: the same votes as torch, the trunk once, exits of a consensus kept."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.engines import Workload, build_engine
from smoothcert.ensembles import ConsensusEnsemble, TrunkedEnsemble, VotingEnsemble
from smoothcert.networks import forward_flops
from smoothcert.sampling import CHUNK_VOTES, Chunk, Sampler
from smoothcert.seeding import generator_for

SHAPE, HEADS, SEED = (1, 8, 8), 4, 11
IMAGE = torch.rand(SHAPE, generator=torch.Generator().manual_seed(0))
NOISE = sc.Gaussian(0.5)
ENGINES = ["torch", pytest.param("onnx", marks=pytest.mark.slow)]


def network(split=None, name="resnet8"):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(3)
        model = sc.create_model(name, num_classes=10, input_shape=SHAPE, heads=HEADS, split=split).train()
        with torch.no_grad():
            for _ in range(3):
                model(torch.rand(32, *SHAPE))
    return model.eval().requires_grad_(False)


def noisy(one):
    batch = torch.empty((CHUNK_VOTES, *SHAPE))
    NOISE.perturb(one.image, batch, generator_for(SEED, one.index, one.phase, one.number))
    return batch[: one.votes]


def drawn(name, model, chunks):
    engine = build_engine(name, model, 10, IMAGE)
    assert engine.engine_name == name  # torch instead of onnx would mean that the export failed
    return Sampler(engine, NOISE, seed=SEED, batch_size=100).draw(chunks)


CHUNKS = [Chunk(IMAGE * (i % 2), i, "estimate", i, CHUNK_VOTES - 30 * i) for i in range(3)]


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("split", [None, "0%", "100%", "stage2"])
def test_votes_of_the_mean_of_heads(name, split):
    model = network(split)
    for one, found in zip(CHUNKS, drawn(name, model, CHUNKS), strict=True):
        expected = np.bincount(model(noisy(one)).argmax(dim=1), minlength=10)
        assert found.votes[0].tolist() == expected.tolist()
        assert int(found.evaluations[0]) == HEADS * one.votes


@pytest.mark.parametrize("name", ENGINES)
@pytest.mark.parametrize("split", [None, "0%", "100%"])
def test_votes_and_evaluations_of_a_consensus_over_heads(name, split):
    """Against every head asked as a classifier of its own, image by image."""
    model, weights, k = network(split), [2.0, 1.0, 3.0, 1.0], 2
    ensemble = ConsensusEnsemble(VotingEnsemble(list(model.heads), weights=weights), k)
    alone = [model.head(number) for number in range(HEADS)]
    costs = []
    for one, found in zip(CHUNKS, drawn(name, TrunkedEnsemble(model.trunk, ensemble), CHUNKS), strict=True):
        votes, evaluations = [0] * 10, 0
        for row in noisy(one):
            logits = [head(row.expand(16, *SHAPE))[0].double().numpy() for head in alone]
            asked = k if len({int(answer.argmax()) for answer in logits[:k]}) == 1 else HEADS
            evaluations += asked
            votes[int(np.average(logits[:asked], axis=0, weights=weights[:asked]).argmax())] += 1
        assert (found.votes[0].tolist(), int(found.evaluations[0])) == (votes, evaluations)
        costs.append(evaluations / one.votes)
    assert any(k < cost < HEADS for cost in costs)


@pytest.mark.parametrize("rule", ["hard", "softmax", "max-margin"])
@pytest.mark.parametrize("name", ENGINES)
def test_votes_of_other_rules_over_heads(name, rule):
    model = network()
    over = TrunkedEnsemble(model.trunk, VotingEnsemble(list(model.heads), rule))
    expected = VotingEnsemble([model.head(number) for number in range(HEADS)], rule)
    for one, found in zip(CHUNKS, drawn(name, over, CHUNKS), strict=True):
        assert found.votes[0].tolist() == np.bincount(expected(noisy(one)).argmax(1), minlength=10).tolist()


def test_the_torch_engine_folds_networks_heads_and_members():
    model = network()
    members = VotingEnsemble([model.head(0), sc.create_model("convnet", num_classes=10).eval()])
    trunked = TrunkedEnsemble(model.trunk, VotingEnsemble(list(model.heads), "hard"))
    for whole in (model, members, trunked):
        engine = build_engine("torch", whole, 10, IMAGE)
        assert engine._run is not whole
        assert not any(isinstance(part, torch.nn.BatchNorm2d) for part in engine._run.modules())
    assert any(
        isinstance(part, torch.nn.BatchNorm2d) for part in model.modules()
    )  # only the copies are folded


def test_auto_charges_the_trunk_once_and_every_head():
    model = network()
    consensus = TrunkedEnsemble(model.trunk, ConsensusEnsemble(VotingEnsemble(list(model.heads))))
    per_vote = forward_flops(model, IMAGE)
    assert per_vote < forward_flops(VotingEnsemble([model.head(number) for number in range(HEADS)]), IMAGE)
    for whole in (model, consensus):
        assert Workload(whole, IMAGE, 1_000).operations == 1_000 * per_vote


def test_the_same_counts_whatever_workers_and_batches():
    model = network()
    consensus = TrunkedEnsemble(model.trunk, ConsensusEnsemble(VotingEnsemble(list(model.heads)))).eval()
    found = [
        sc.SmoothedClassifier(consensus, NOISE, 10).certify(
            IMAGE, sc.FixedSample(n=1_000), seed=2, engine="torch", workers=workers, batch_size=size
        )
        for workers, size in ((1, 50), (2, 256))
    ]
    assert found[0].counts == found[1].counts
    assert found[0].evaluations == found[1].evaluations
    assert 2 * 1_100 < found[0].evaluations < HEADS * 1_100
