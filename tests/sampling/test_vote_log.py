"""Votes one by one: packed and read back, and the same whatever way they went."""

import gzip
import random
import tracemalloc
import zlib

import numpy as np
import pytest
import torch

from smoothcert.engines import CallableEngine
from smoothcert.noise import Gaussian
from smoothcert.sampling import (
    ChunkVotes,
    ImageSampling,
    Phase,
    Sampler,
    chunk_borders,
    no_class,
    pack,
    tallied,
    unpack,
)
from smoothcert.sampling.vote_log import VoteLog, vote_type

PHASES = (Phase("select", (100,)), Phase("estimate", chunk_borders(1_000)))


@pytest.mark.parametrize("classes, size", [(2, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_every_class_and_none_have_room(classes, size):
    assert vote_type(classes).itemsize == size
    votes = np.array([0, classes - 1, no_class(classes)], dtype=vote_type(classes))
    read = unpack(pack(votes.tobytes()), classes)
    assert read.tolist() == [0, classes - 1, no_class(classes)]
    assert no_class(classes) >= classes
    counted = tallied(read, classes)
    assert (counted.sum(), counted[0], counted[-1]) == (2, 1, 1)


def _with_dictionary(votes):
    stream = zlib.compressobj(zdict=b"\0" * 64)
    return stream.compress(votes) + stream.flush()


VOTES = bytes([1, 2, 2, 1])
DAMAGED = {
    "nothing": (b"nothing", "incorrect header check"),
    "empty": (b"", "end in the middle"),
    "text": ("eJw=", "stored as str, not as bytes"),
    "a number": (5, "stored as int, not as bytes"),
    "cut short": (pack(VOTES)[:-1], "end in the middle"),
    "bytes after them": (pack(VOTES) + b"x", "1 bytes follow them"),
    "a second stream": (pack(VOTES) + pack(VOTES), "bytes follow them"),
    "another checksum": (pack(VOTES)[:-1] + b"x", "incorrect data check"),
    "a dictionary": (_with_dictionary(VOTES), "Error 2"),
    "gzip": (gzip.compress(VOTES), "incorrect header check"),
    "no header": (pack(VOTES)[2:-4], "Error -3"),
    "one vote too many": (pack(VOTES + b"1"), "more than the 4 bytes"),
}


@pytest.mark.parametrize("what", DAMAGED)
def test_damaged_votes_are_an_error(what):
    packed, words = DAMAGED[what]
    assert unpack(pack(VOTES), 10, 4).tolist() == list(VOTES)
    with pytest.raises(ValueError, match=f"damaged votes .*{words}"):
        unpack(packed, 10, 4)


def test_half_a_vote_is_an_error():
    assert unpack(pack(b"12"), 300).tolist() == [0x3231]
    with pytest.raises(ValueError, match="no whole number of votes"):
        unpack(pack(b"123"), 300)


def test_votes_that_unpack_to_far_too_many_are_refused_without_unpacking_them():
    stream = zlib.compressobj(9)
    part = bytes(2**20)
    bomb = b"".join(stream.compress(part) for _ in range(2**8)) + stream.flush()
    tracemalloc.start()
    with pytest.raises(ValueError, match="more than the 20,000 bytes"):
        unpack(bomb, 10, 20_000)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


def test_a_log_keeps_votes_by_phase_in_their_order():
    log = VoteLog()
    log.start("select")
    log.add(np.array([1, 2], dtype=np.uint8))
    log.start("estimate")
    log.add(np.array([3], dtype=np.uint8))
    log.add(np.array([0, 0], dtype=np.uint8))
    assert {phase: unpack(p, 10).tolist() for phase, p in log.packed().items()} == {
        "select": [1, 2],
        "estimate": [3, 0, 0],
    }


def test_a_log_that_missed_votes_holds_none():
    log = VoteLog()
    log.start("select")
    log.add(np.array([1], dtype=np.uint8))
    log.add(None)
    log.add(np.array([1], dtype=np.uint8))
    assert log.packed() == {}
    log.start("estimate")
    log.add(np.array([1], dtype=np.uint8))
    assert log.packed() == {}


class After:
    """Decides after so many looks and keeps the last counts."""

    def __init__(self, last):
        self.last = last

    def absorb(self, look, counts):
        self.counts = counts
        return look == self.last


def three(batch):
    return torch.stack([batch[:, 0], batch[:, 1], -batch[:, 0]], dim=1)


@pytest.mark.parametrize("shuffled", [False, True])
def test_a_sampling_keeps_the_votes_of_its_counts_in_their_order(shuffled):
    """Each answer up to its own decision, whatever order the chunks come back in."""
    image = torch.tensor([0.1, 0.2])
    sampler = Sampler(CallableEngine(three, 3, image), Gaussian(1.0), seed=3, batch_size=256)
    decision, order, pending = After(9), random.Random(1), []
    sampling = ImageSampling(4, image, PHASES, decision, 3)
    while not sampling.decided or pending:
        while (chunk := sampling.next_chunk()) is not None:
            pending.append(chunk)
        chunk = pending.pop(order.randrange(len(pending)) if shuffled else 0)
        sampling.take(chunk, sampler.draw([chunk])[0])
    votes_cast = {phase: unpack(packed, 3) for phase, packed in sampling.packed_votes.items()}
    assert {phase: len(votes) for phase, votes in votes_cast.items()} == {"select": 100, "estimate": 9 * 64}
    assert tallied(votes_cast["estimate"], 3).tolist() == decision.counts.votes.tolist()
    again = sampler.draw([type(chunk)(image, 4, "estimate", 2, 64)])[0]
    assert votes_cast["estimate"][128:192].tolist() == again.classes[0].tolist()


def test_a_sampling_of_counts_alone_has_no_vote_log():
    sampling = ImageSampling(0, torch.zeros(1), (Phase("estimate", (64,)),), After(0), 2)
    chunk = sampling.next_chunk()
    sampling.take(chunk, ChunkVotes(np.array([[60, 4]]), np.array([64]), 0.1))
    assert sampling.decided
    assert sampling.packed_votes == {}
