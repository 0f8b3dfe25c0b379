"""What one request, and all of them together, may take."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.arguments import check_number, check_whole

LEAST_BODY = 2**20
_CONNECTIONS_PER_REQUEST = 8
_JSON_BYTES = 32  # of one number in a list, however it is written


@dataclass(frozen=True)
class Limits:
    """Bounds on requests. Not a quota per client: who shares a key shares them.

    Args:
        body: bytes of a body; None: what the largest image takes as JSON, at least 1 MiB.
        votes: of one request, at most.
        requests: being answered at once.
        seconds: for one request.
        model_memory: MiB of the weights of all models.
        radii: that one procedure may be asked for; each takes a table of its own.
        head_seconds: for the head of a request to arrive.
    """

    body: int | None = None
    votes: int = 200_000
    requests: int = 64
    seconds: float = 60.0
    model_memory: int = 4_096
    radii: int = 32
    head_seconds: float = 20.0

    def __post_init__(self) -> None:
        if self.body is not None:
            check_whole("max_body", self.body, 1_024, 2**30)
        check_whole("max_votes", self.votes, 1, 10**8)
        check_whole("max_requests", self.requests, 1, 10_000)
        check_number("time_limit", self.seconds, 0.1, 86_400, what="seconds from 0.1 to 86,400")
        check_number("head_seconds", self.head_seconds, 0.1, 600, what="seconds from 0.1 to 600")
        check_whole("max_model_memory", self.model_memory, 1, 2**24)

    @property
    def connections(self) -> int:
        """How many may be open at once: browsers and pools hold some that ask nothing at the moment."""
        return _CONNECTIONS_PER_REQUEST * self.requests

    def body_for(self, values: int) -> int:
        """Return the bytes that a body may have where an image has at most so many values."""
        return max(LEAST_BODY, _JSON_BYTES * values) if self.body is None else self.body
