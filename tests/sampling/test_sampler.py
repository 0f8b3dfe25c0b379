"""Votes drawn by the sampler against a slow, plain reference; and the vote contract it keeps."""

import numpy as np
import pytest
import torch

from smoothcert.engines import build_engine, engine_rule
from smoothcert.ensembles import Panel, VotingEnsemble
from smoothcert.errors import ModelOutputError
from smoothcert.networks import MIN_ROWS
from smoothcert.noise import Gaussian, Laplace, Uniform
from smoothcert.sampling import CHUNK_VOTES, Chunk, Counts, Phase, Sampler, chunk_borders
from smoothcert.seeding import generator_for

SHAPE, CLASSES, SEED = (3, 4), 5, 9
WEIGHTS = torch.randn(12, CLASSES, generator=torch.Generator().manual_seed(0))


def linear(batch):
    return batch.reshape(len(batch), -1) @ WEIGHTS


def chunk(index=0, phase="estimate", number=0, votes=CHUNK_VOTES):
    image = torch.linspace(0, 1, 12).reshape(SHAPE) * (1 + index % 3) / 3
    return Chunk(image, index, phase, number, votes)


def make(model=linear, noise=None, batch_size=1_000, **how):
    return Sampler(
        build_engine(engine_rule("auto", model, torch.zeros(1)), model, CLASSES, torch.zeros(1)),
        noise or Gaussian(0.5),
        seed=SEED,
        batch_size=batch_size,
        **how,
    )


def plain_votes(one, noise):
    """One vote at a time, from the definition: the key's stream, a whole chunk, then one image after another."""
    noisy = torch.empty((CHUNK_VOTES, *SHAPE))
    noise.perturb(one.image, noisy, generator_for(SEED, one.index, one.phase, one.number))
    votes = [0] * CLASSES
    for row in noisy[: one.votes]:
        logits = linear(row.unsqueeze(0).expand(MIN_ROWS, *SHAPE))[0].tolist()
        votes[logits.index(max(logits))] += 1
    return votes


@pytest.mark.parametrize("noise", [Gaussian(0.5), Uniform(0.8), Laplace(0.3)], ids=lambda n: n.law_name)
def test_counts_equal_a_slow_reference(noise):
    chunks = [chunk(0), chunk(1, number=7), chunk(2, phase="select", votes=36), chunk(3, votes=1)]
    for one, drawn in zip(chunks, make(noise=noise).draw(chunks), strict=True):
        assert drawn.votes[0].tolist() == plain_votes(one, noise)
        assert drawn.votes.sum() == one.votes
        assert drawn.evaluations.tolist() == [one.votes]


@pytest.mark.parametrize("batch_size", [1, 7, 16, 50, 64, 100, 1_000])
def test_counts_do_not_depend_on_batches_or_company(batch_size):
    chunks = [chunk(i, number=i % 3, votes=CHUNK_VOTES - 10 * (i % 2)) for i in range(9)]
    expected = [make().draw([one])[0].votes for one in chunks]
    drawn = make(batch_size=batch_size).draw(chunks[::-1])[::-1]
    for a, b in zip(expected, drawn, strict=True):
        np.testing.assert_array_equal(a, b.votes)


def test_a_short_chunk_is_the_beginning_of_a_whole_one():
    """Otherwise the votes of a run would depend on how many are asked for."""
    whole = make().noisy_images([chunk()]).clone()
    assert torch.equal(make().noisy_images([chunk(votes=10)]), whole[:10])


def test_no_forward_pass_runs_on_few_rows_and_padding_casts_no_vote():
    seen = []

    def watching(batch):
        seen.append(len(batch))
        return linear(batch)

    drawn = make(watching, batch_size=50).draw([chunk(votes=3), chunk(1)])
    assert min(seen) >= MIN_ROWS
    assert max(seen) <= 50
    assert [int(d.votes.sum()) for d in drawn] == [3, 64]


def test_memory_is_one_batch():
    sampler = make()
    for number in range(200):
        sampler.draw([chunk(number=number)])
    assert sampler._buffer.shape[0] <= 2 * CHUNK_VOTES


def test_ties_go_to_the_lowest_class():
    drawn = make(lambda batch: torch.zeros(len(batch), CLASSES)).draw([chunk()])
    assert drawn[0].votes.tolist() == [[64, 0, 0, 0, 0]]


def test_nan_votes_are_an_error_or_go_to_no_class():
    def doubtful(batch):
        logits = linear(batch)
        logits[batch.reshape(len(batch), -1)[:, 0] > 0] = float("nan")
        return logits

    with pytest.raises(ModelOutputError, match="NaN or infinite"):
        make(doubtful).draw([chunk()])
    drawn = make(doubtful, on_nan="count").draw([chunk()])[0]
    assert 0 < drawn.votes.sum() < 64


class Linear(torch.nn.Module):
    def __init__(self, sign):
        super().__init__()
        self.sign = sign

    def forward(self, batch):
        return self.sign * linear(batch)


def test_several_answers_are_counted_apart():
    members = [Linear(1.0), Linear(-1.0), Linear(2.0)]
    ensemble = VotingEnsemble(members, weights=[0.0, 1.0, 0.0]).eval()
    drawn = make(Panel(ensemble).eval()).draw([chunk(), chunk(1)])
    for one, found in zip([chunk(), chunk(1)], drawn, strict=True):
        assert found.votes.shape == (4, CLASSES)
        for answer, model in enumerate([*members, members[1]]):
            np.testing.assert_array_equal(found.votes[answer], make(model).draw([one])[0].votes[0])
        assert found.evaluations.tolist() == [64, 64, 64, 192]


@pytest.mark.parametrize("logits", [CLASSES - 1, CLASSES + 1])
def test_the_wrong_number_of_logits_is_refused(logits):
    with pytest.raises(ModelOutputError, match="num_classes"):
        make(lambda batch: torch.zeros(len(batch), logits)).draw([chunk()])


def test_phases_look_only_at_chunk_borders_and_their_end():
    assert chunk_borders(200) == (64, 128, 192, 200)
    assert chunk_borders(128) == (64, 128)
    assert chunk_borders(10) == (10,)
    phase = Phase("estimate", chunk_borders(200))
    assert (phase.votes, phase.chunks, phase.chunk_votes(2), phase.chunk_votes(3)) == (200, 4, 64, 8)
    for looks in ((), (0, 64), (64, 64), (100, 200)):
        with pytest.raises(ValueError, match="phase"):
            Phase("estimate", looks)


def test_counts_add_up_and_refuse_more_votes_than_drawn():
    a, b = Counts(np.array([3, 1]), 5, 5), Counts(np.array([0, 2]), 2, 4)
    assert a + b == Counts(np.array([3, 3]), 7, 9)
    assert a + Counts(np.zeros(2, dtype=np.int64), 0) == a
    assert (a.top, a.unanswered) == (0, 1)
    with pytest.raises(ValueError, match="drawn"):
        Counts(np.array([3, 3]), 5)
