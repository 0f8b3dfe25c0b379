"""The product: a certificate, and the counts that prove it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smoothcert.certificates.outcome import Outcome
from smoothcert.sampling import Counts


@dataclass(frozen=True)
class Tally:
    """Counts at one deciding look: what they were used for, and enough to check it again.

    Args:
        phase: the stream the votes came from.
        purpose: "select" chose the class; "bound" gave the probability; "certify" proved `radius`; "stop"
            ended the attempt.
        counts: the counts of that phase at that look.
        radius: the radius proven there, in pixel units; None for the other purposes.
    """

    phase: str
    purpose: str
    counts: Counts
    radius: float | None = None


@dataclass(frozen=True)
class Verdict:
    """What a procedure concludes from the votes alone, before costs and identities are added."""

    outcome: Outcome
    predicted: int | None
    radius: float
    p_lower: float
    tallies: tuple[Tally, ...]


@dataclass(frozen=True)
class Certificate:
    """Within `radius` of the image the smoothed classifier answers `predicted`, with error at most alpha.

    Not a statement about the label, nor about the base classifier, nor about all images at once: alpha is
    one-sided and per image.

    Args:
        outcome: why the certification ended.
        predicted: the class, or None on abstention.
        radius: certified radius in pixel units, in the norm of the noise; 0 on abstention.
        p_lower: lower bound on the class probability that the radius rests on; 0 where nothing was proven.
        samples: votes drawn, those that chose the class included.
        evaluations: forward passes of base networks that they cost.
        counts: votes of the phase in which it ended.
        tallies: counts at the looks that decided something, enough to prove the radius again.
        alpha: error probability, one-sided, for this image.
        norm: norm of the radius.
        noise: description of the noise law.
        procedure: description of the procedure.
        engine: how the classifier was executed.
        precision: what it was calculated in where that is less than float32: "int8" or "bfloat16", of which the engine
            is part of what the certificate is about; else None.
        model: digest of the classifier's weights, or the name of a callable that has none.
        seed: seed of the keyed streams.
        index: the image's place in the keyed streams.
        seconds: seconds of one worker that the votes took.
        vote_log: every vote in its order, by phase and packed (`smoothcert.sampling.unpack` reads them), for an audit;
            nothing where only counts were kept.
    """

    outcome: Outcome
    predicted: int | None
    radius: float
    p_lower: float
    samples: int
    evaluations: int
    counts: Counts
    tallies: tuple[Tally, ...]
    alpha: float
    norm: str
    noise: dict[str, Any]
    procedure: dict[str, Any]
    engine: str
    model: str
    seed: int
    index: int
    seconds: float
    precision: str | None = None
    vote_log: Mapping[str, bytes] = field(default_factory=dict, repr=False)

    @property
    def is_certified(self) -> bool:
        """True if a class was certified, at whatever radius."""
        return self.outcome is Outcome.CERTIFIED
