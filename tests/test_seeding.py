"""Keyed streams: wide keys, no repeats, no global state."""

import numpy as np
import pytest
import torch

from smoothcert.errors import InvalidArgumentError
from smoothcert.seeding import KeyedGenerator, check_seed, generator_for, state_words, stream_key


def draw(seed=1, index=2, phase="estimate", chunk=3, count=64):
    return torch.empty(count).normal_(generator=generator_for(seed, index, phase, chunk))


def test_the_same_key_gives_the_same_noise_and_any_other_key_another():
    base = draw()
    assert torch.equal(base, draw())
    for other in ({"seed": 2}, {"index": 3}, {"phase": "select"}, {"chunk": 4}):
        assert not torch.equal(base, draw(**other)), other


@pytest.mark.parametrize("part", ["seed", "index", "chunk"])
def test_keys_that_agree_modulo_two_to_the_32_give_different_noise(part):
    assert not torch.equal(draw(**{part: 5}), draw(**{part: 5 + 2**32}))
    assert not torch.equal(draw(**{part: 5}), draw(**{part: 5 + 2**64}))


def test_keys_cannot_be_confused():
    """Neighbouring fields must not run into each other: (1, 12) is not (11, 2)."""
    keys = {
        stream_key(s, i, p, c)
        for s in (1, 0x11)
        for i in (1, 0x11, 0x111)
        for p in ("a", "b")
        for c in (1, 0x11)
    }
    assert len(keys) == 2 * 3 * 2 * 2


def test_the_whole_mersenne_twister_state_is_filled():
    """Against NumPy's Mersenne Twister in the same state: torch's uniforms are its low 24 bits."""
    key = stream_key(7, 1, "estimate", 0)
    twister = np.random.MT19937()
    twister.state = {"bit_generator": "MT19937", "state": {"key": state_words(key), "pos": 624}}
    expected = (twister.random_raw(2_000) & (2**24 - 1)) / 2**24
    drawn = torch.empty(2_000).uniform_(generator=KeyedGenerator().at(key))
    np.testing.assert_array_equal(drawn.numpy(), expected.astype(np.float32))


def test_a_used_generator_starts_afresh_at_its_next_key():
    """No cached normal or half-read block may leak from one chunk into the next."""
    stream = KeyedGenerator()
    torch.empty(17).normal_(generator=stream.at(b"first"))
    torch.randn((), generator=stream.at(b"first"))
    again = torch.empty(64).normal_(generator=stream.at(b"second"))
    assert torch.equal(again, torch.empty(64).normal_(generator=KeyedGenerator().at(b"second")))


def test_many_chunks_never_share_a_state():
    """100,000 chunks: with 32-bit seeds one would expect a repeat, with 128 bits never one."""
    states = {state_words(stream_key(1, 0, "estimate", chunk))[:4].tobytes() for chunk in range(100_000)}
    assert len(states) == 100_000


def test_global_random_states_are_left_alone():
    torch_before, numpy_before = torch.get_rng_state(), np.random.get_state()[1].copy()
    draw()
    assert torch.equal(torch.get_rng_state(), torch_before)
    assert (np.random.get_state()[1] == numpy_before).all()


def test_seeds():
    assert check_seed(2**128 - 1) == 2**128 - 1
    assert check_seed(np.int64(3)) == 3
    assert check_seed(None) != check_seed(None)
    for wrong in (-1, 2**128, 1.5, "3", True):
        with pytest.raises(InvalidArgumentError, match="seed"):
            check_seed(wrong)
