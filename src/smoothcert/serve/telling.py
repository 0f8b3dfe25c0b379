"""What the service counts about itself, in Prometheus' words."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60)


class Telling:
    """Counters of one service, in a registry of their own. Threads may use it."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        here = self.registry
        ProcessCollector(registry=here)
        self._requests = Counter(
            "smoothcert_requests", "Requests answered", ["path", "status"], registry=here
        )
        self._seconds = Histogram(
            "smoothcert_request_seconds", "Until the answer", ["path"], buckets=_SECONDS, registry=here
        )
        self._votes = Counter("smoothcert_votes", "Votes drawn", ["model"], registry=here)
        self._certificates = Counter(
            "smoothcert_certificates", "Certificates finished", ["model", "outcome"], registry=here
        )
        self._repeated = Counter(
            "smoothcert_repeated", "Answered with a certificate that was there", registry=here
        )
        self.under_way = Gauge("smoothcert_requests_under_way", "Requests being answered", registry=here)

    def answered(self, path: str, status: int, seconds: float) -> None:
        """Count an answer; `path` as the schema has it, so that there are few."""
        self._requests.labels(path, str(status)).inc()
        self._seconds.labels(path).observe(seconds)

    def drawn(self, model: str, votes: int) -> None:
        """Count votes."""
        self._votes.labels(model).inc(votes)

    def certified(self, model: str, outcome: str) -> None:
        """Count a finished certificate."""
        self._certificates.labels(model, outcome).inc()

    def repeated(self) -> None:
        """Count a question that had been answered."""
        self._repeated.inc()

    def text(self) -> bytes:
        """Return all of it as Prometheus reads it."""
        return generate_latest(self.registry)
