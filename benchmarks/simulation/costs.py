"""What things cost: the driver by what it does, a worker by vote and job."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Self

import numpy as np


@dataclass(frozen=True, kw_only=True)
class DriverCosts:
    """Seconds that the driver's one thread is busy with each thing that it does.

    Not constants of nature: what is done per job goes through all workers and all open images, so they belong to a
    number of workers (`between`).

    Args:
        job_sent: a job is written and handed to Ray.
        chunk_sent: per chunk of it.
        answer: an answer is waited for, fetched and read, and the next jobs are thought of.
        chunk_taken: per chunk of it, its looks included.
        image_opened: an image is read and its sampling begun.
        image_written: a certificate is made and stored.
    """

    job_sent: float = 0.0
    chunk_sent: float = 0.0
    answer: float = 0.0
    chunk_taken: float = 0.0
    image_opened: float = 0.0
    image_written: float = 0.0

    @classmethod
    def between(cls, measured: Mapping[int, DriverCosts], workers: int) -> Self:
        """Return the costs for a number of workers, on straight lines between those measured, by number of workers.

        Beyond the ends those of the end are taken: nobody knows better.
        """
        numbers = sorted(measured)
        known = [asdict(measured[number]) for number in numbers]
        names = [field.name for field in fields(cls)]
        return cls(
            **{name: float(np.interp(workers, numbers, [one[name] for one in known])) for name in names}
        )


@dataclass(frozen=True, kw_only=True)
class WorkerCosts:
    """Seconds of one worker, and of the way to it.

    Args:
        vote: one vote.
        job: reading an order and writing the answer, beside its votes.
        delay: from the driver to the worker, and the same back.
    """

    vote: float
    job: float = 0.0
    delay: float = 0.0
