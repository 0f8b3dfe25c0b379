"""What a worker says before its first vote, and what it is refused for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.networks import MIN_ROWS
from smoothcert.sampling import Control, Sampler

PROBE_ROWS = 256
"""Noisy copies that a worker must answer as the driver does before it may draw a vote."""


@dataclass(frozen=True)
class Greeting:
    """What a worker says of itself before its first vote.

    Args:
        name: machine and process.
        versions: releases that calculate the votes there.
        answers: logits of the control question; None if it could not be asked.
        seconds_per_vote: what a vote takes there, roughly.
        fault: why it cannot work; None if it can.
    """

    name: str
    versions: dict[str, str]
    answers: NDArray[Any] | None = None
    seconds_per_vote: float = 0.0
    fault: str | None = None


def ask(sampler: Sampler) -> Control:
    """Ask a sampler the control question that driver and workers must answer alike."""
    example = sampler.engine.example
    return Control.ask(sampler, example, min(PROBE_ROWS, max(sampler.batch_size, MIN_ROWS)))


def refusal(greeting: Greeting, control: Control, versions: dict[str, str]) -> str | None:
    """Return why a worker must not vote; None if it may.

    Args:
        greeting: what it said of itself.
        control: the question, and what it was answered here.
        versions: releases that calculate the votes here.
    """
    if greeting.fault is not None:
        return greeting.fault
    other = [
        f"{name} {greeting.versions.get(name, 'missing')} where the driver has {mine}"
        for name, mine in versions.items()
        if greeting.versions.get(name) != mine
    ]
    if other:
        return f"it has {', '.join(other)}; install the same releases there"
    assert greeting.answers is not None
    if greeting.answers.shape != control.answers.shape:
        return f"it answers in the shape {greeting.answers.shape} and the driver in {control.answers.shape}"
    differing = int((_votes(greeting.answers) != _votes(control.answers)).sum())
    if differing:
        return f"it votes otherwise than the driver on {differing} of {len(control.answers)} noisy copies of the probe"
    if not control.holds(greeting.answers):
        return "its logits differ from the driver's by more than rounding"
    return None


def _votes(answers: NDArray[Any]) -> NDArray[np.int64]:
    """Return the class of each row and answer; -1 where a logit is no number."""
    return np.where(np.isfinite(answers).all(axis=2), answers.argmax(axis=2), -1)
