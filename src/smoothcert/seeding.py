"""Keyed random streams: every random number of a run follows from (seed, index, phase, chunk) alone.

Not a global generator: nothing here reads or moves torch's, NumPy's or Python's global random state.

torch's `manual_seed` keeps only 32 bits of a seed on the CPU, so two of 2^16 hashed keys would be expected to
collide and repeat each other's noise. Here SHAKE-128 of the key fills the generator's whole Mersenne-Twister
state instead. `Generator` methods that hand a 31-bit sub-seed to a vendor library (`exponential_`,
`bernoulli_` on MKL builds) would throw that width away again: noise laws use only `normal_`,
`uniform_`, and `random_` on 64-bit integers, also to start a faster stream (`noise/words.py`).

On CUDA the generator is Philox with a 64-bit key and a 64-bit place, of which 126 bits are free: SHAKE-128 fills
those. Its numbers are others than the CPU's for the same key.
"""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import torch

SEED_BITS = 128
_WORDS = 624  # 32-bit words of Mersenne-Twister state

# Byte layout of torch's CPU generator state: seed, words left, seeded flag, next word, one uint64 per state
# word, then cached normals (all unused by the methods called here, so left zero).
_STATE = np.dtype(
    [
        ("seed", "<u8"),
        ("left", "<i4"),
        ("seeded", "<i4"),
        ("next", "<u8"),
        ("words", "<u8", (_WORDS,)),
        ("cached_normals", "V40"),
    ]
)


def fresh_seed() -> int:
    """Draw a 128-bit seed from the operating system, so that nobody can choose an input after the noise."""
    return secrets.randbits(SEED_BITS)


def check_seed(seed: int | None) -> int:
    """Return `seed` if it is an integer in [0, 2^128), or a fresh one for None."""
    if seed is None:
        return fresh_seed()
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 1 << SEED_BITS:
        raise InvalidArgumentError(
            f"seed must be an integer from 0 to 2^128 - 1, got {seed!r}; leave it out to draw a secret one"
        )
    return int(seed)


def stream_key(seed: int, index: int, phase: str, chunk: int) -> bytes:
    """Encode the identity of one stream; different arguments always give different keys."""
    return f"smoothcert/1|{seed:x}|{index:x}|{phase}|{chunk:x}".encode()


def state_words(key: bytes) -> np.ndarray:
    """Expand a key to the 624 words that fill a Mersenne-Twister state."""
    return np.frombuffer(hashlib.shake_128(key).digest(4 * _WORDS), dtype="<u4")


def philox_state(key: bytes) -> np.ndarray:
    """Expand a key to the 16 bytes of a CUDA generator's state: the Philox key, and a place divisible by 4."""
    words = np.frombuffer(hashlib.shake_128(key).digest(16), dtype="<u8").copy()
    words[1] &= np.uint64(2**64 - 4)  # torch refuses a place inside one of Philox's blocks of four numbers
    return words.view(np.uint8)


class KeyedGenerator:
    """A torch generator that jumps to the stream of any key; one per worker, never shared by threads.

    Args:
        device: the CPU or a CUDA device; the numbers of the two differ.
    """

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self._generator = torch.Generator(device=device)
        self._philox = torch.device(device).type != "cpu"
        self._record = np.zeros((), dtype=_STATE)
        self._record["left"] = 1  # the next number asked for regenerates the whole block of words
        self._record["seeded"] = 1
        self._bytes = torch.from_numpy(self._record.reshape(1).view(np.uint8))
        size = 16 if self._philox else self._bytes.numel()
        if size != self._generator.get_state().numel():
            raise RuntimeError(
                "this torch release lays out its generator state differently; see constraints.txt"
            )

    def at(self, key: bytes) -> torch.Generator:
        """Return the generator, placed at the start of the stream of `key`."""
        if self._philox:
            self._generator.set_state(torch.from_numpy(philox_state(key)))
        else:
            self._record["words"] = state_words(key)
            self._generator.set_state(self._bytes)
        return self._generator


def generator_for(seed: int, index: int, phase: str, chunk: int = 0) -> torch.Generator:
    """Return a new generator at the start of one stream, for code outside the path of a vote."""
    return KeyedGenerator().at(stream_key(seed, index, phase, chunk))
