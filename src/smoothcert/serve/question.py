"""A question: one image under fixed terms. Equal questions are one, have one seed, and are answered once."""

from __future__ import annotations

import hashlib
import hmac
import json
from dataclasses import dataclass
from typing import Any

import torch

from smoothcert.arguments import is_number
from smoothcert.certificates import Certification
from smoothcert.seeding import SEED_BITS
from smoothcert.store import plain


def image_digest(image: torch.Tensor) -> str:
    """Return SHA-256 over shape and float32 values of an image, as hex digits; -0.0 is 0.0, or it were a retry."""
    content = hashlib.sha256(json.dumps(list(image.shape)).encode() + b"\n")
    content.update((image + 0.0).contiguous().numpy().astype("<f4").tobytes())
    return content.hexdigest()


@dataclass(frozen=True)
class Question:
    """What was asked, as a digest of all that decides the answer but the noise.

    Not the engine: a stream must not draw fresh votes because a service was started with another one.

    Args:
        image: digest of the image.
        digest: of the question.
    """

    image: str
    digest: str

    @classmethod
    def of(cls, terms: Certification, about: dict[str, Any], image: str) -> Question:
        """Ask about an image.

        Args:
            terms: classifier and noise.
            about: what is to be done: procedure and alpha.
            image: digest of the image.
        """
        asked = [terms.model, terms.law, terms.on_nan, _spelled_alike(plain(about)), image]
        text = json.dumps(asked, sort_keys=True)
        return cls(image, hashlib.sha256(text.encode()).hexdigest())


def _spelled_alike(value: Any) -> Any:
    """Return plain values in which 1, 1.0 and -0.0, 0 are the same number: each spelling would be a fresh draw."""
    if isinstance(value, dict):
        return {key: _spelled_alike(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_spelled_alike(one) for one in value]
    return float(value) + 0.0 if is_number(value) else value


@dataclass(frozen=True)
class Secret:
    """What seeds and names of certificates are made with: a keyed hash that nobody outside can compute.

    So the votes of a question are a function of it, and asking again cannot draw others; and a seed that became known
    says nothing about any other.

    Args:
        key: 256 bits from the operating system.
    """

    key: bytes

    def seed(self, question: Question) -> int:
        """Return the seed of a question's streams, of 128 bits."""
        return int.from_bytes(self._hash("seed", question)[: SEED_BITS // 8], "big")

    def name(self, question: Question) -> str:
        """Return the name of the certificate: 32 hex digits that cannot be guessed."""
        return self._hash("name", question)[:16].hex()

    def _hash(self, purpose: str, question: Question) -> bytes:
        return hmac.digest(self.key, f"{purpose}|{question.digest}".encode(), "sha256")
