"""Random words: a fast stream that follows from the key alone, all bits of it, whatever the device."""

import numpy as np
import pytest
import torch
from scipy.stats import chisquare

from smoothcert.noise.grid_table import grid_table
from smoothcert.noise.words import Words, in_blocks
from smoothcert.seeding import generator_for, state_words, stream_key

MASK = 2**64 - 1


def words(seed=5, index=3, phase="test", chunk=2):
    return Words(generator_for(seed, index, phase, chunk))


def by_hand(key, count):
    """SFC64 in whole numbers, started by the first six words of NumPy's Mersenne Twister in the key's state."""
    twister = np.random.MT19937()
    state = {"key": state_words(key).astype(np.uint32), "pos": 624}
    twister.state = {"bit_generator": "MT19937", "state": state}
    raw = [int(word) for word in twister.random_raw(6)]
    a, b, c = (high << 32 | low for high, low in zip(raw[::2], raw[1::2], strict=True))
    counter, drawn = 1, []
    for _ in range(12 + count):  # the first twelve are for mixing
        out = (a + b + counter) & MASK
        counter += 1
        a, b, c = b ^ (b >> 11), (c + (c << 3)) & MASK, (((c << 24) | (c >> 40)) + out) & MASK
        drawn.append(out)
    return drawn[12:]


def test_the_whole_way_from_the_key_by_another_implementation():
    key = stream_key(5, 3, "test", 2)
    assert words().raw(50).tolist() == by_hand(key, 50)


def test_the_same_key_gives_the_same_words_and_any_other_key_others():
    base = words().raw(8)
    assert (base == words().raw(8)).all()
    for other in ({"seed": 5 + 2**32}, {"index": 4}, {"phase": "other"}, {"chunk": 2 + 2**64}):
        assert not np.isin(base, words(**other).raw(1_000)).any(), other


def test_many_chunks_never_share_a_word():
    """Streams that overlapped, or were one stream begun at other places, would share some."""
    drawn = np.concatenate([words(chunk=chunk).raw(64) for chunk in range(2**10)])
    assert len(np.unique(drawn)) == len(drawn)


def test_a_generator_that_was_used_gives_other_words_next():
    generator = generator_for(1, 2, "test")
    one, two = Words(generator).raw(100), Words(generator).raw(100)
    assert not np.isin(one, two).any()


@pytest.mark.parametrize("fast", [True, False])
def test_all_values_are_equally_likely(fast):
    made = words()
    if not fast:  # as on a device that is not the CPU
        made._fast = None
    drawn = made.integers(100_001)
    assert (drawn.dtype, tuple(drawn.shape)) == (torch.int64, (100_001,))
    for byte in drawn.numpy().view(np.uint8).reshape(100_001, -1).T:
        assert chisquare(np.bincount(byte, minlength=256)).pvalue > 1e-4


def test_a_table_draws_the_same_law_by_its_guide_and_by_whole_integers():
    table, count = grid_table(0.02, 510), 200_000
    other = words(chunk=9)
    other._fast = None
    counts = [np.bincount(table.draw(made, count).numpy() + 510, minlength=1021) for made in (words(), other)]
    common = counts[0] + counts[1] >= 50
    assert common.sum() > 20
    both = np.stack(counts)[:, common]
    expected = both.sum(axis=0) / 2
    assert ((both[0] - expected) ** 2 / expected * 2).sum() < common.sum() + 5 * np.sqrt(2 * common.sum())
    with pytest.raises(RuntimeError, match="CPU"):
        other.raw(1)


def test_blocks_are_whole_rows_and_follow_from_the_shape():
    for shape, expected in (
        ((64, 1, 28, 28), [64]),
        ((64, 3, 32, 32), [42, 22]),
        ((3, 3, 224, 224), [1, 1, 1]),
    ):
        assert [len(block) for block in in_blocks(torch.empty(shape))] == expected
    assert [len(block) for block in in_blocks(torch.empty(5, 0))] == [5]
