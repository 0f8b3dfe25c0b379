"""Takes what certifying brings and writes it into run folders, one image at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from smoothcert.certificates import Certificate
from smoothcert.data import Dataset
from smoothcert.execution import Heartbeat
from smoothcert.sampling import ImageFault
from smoothcert.store.database import RunDatabase
from smoothcert.store.rows import FailureRow
from smoothcert.store.status import beating


class RunWriter:
    """Writes the certificates of one classifier, and the states of images under way.

    Args:
        database: open for writing.
        dataset: where the labels come from.
    """

    def __init__(self, database: RunDatabase, dataset: Dataset) -> None:
        self.database, self._labels = database, dataset.labels
        self._added: list[int] = []  # by this process
        self.done = {row[0] for row in database.each("SELECT idx FROM certificates")}
        # Where no image was under way, nobody need ask for one.
        self.saved: Callable[[int], Any] | None = database.unfinished if database.has_unfinished() else None

    def finished(self, certificate: Certificate) -> None:
        """Store a certificate, unless it is there: a crash may have come between the databases of a panel."""
        if certificate.index not in self.done:
            self._added.append(certificate.index)  # first, because Ctrl-C may come in between
            self.database.add(certificate, int(self._labels[certificate.index]))
            self.done.add(certificate.index)

    def unfinished(self, states: Mapping[int, Any]) -> None:
        """Store the states of images under way."""
        self.database.save_unfinished(states)

    def failed(self, index: int, fault: ImageFault) -> None:
        """Store why an image has no certificate, unless it has one: a panel may fail after some of it is stored."""
        if index not in self.done:
            self._added.append(index)
            self.database.add_failure(FailureRow(index, int(self._labels[index]), fault.reason))

    def beat(self, heartbeat: Heartbeat) -> None:
        """Store how the run is getting on."""
        self.database.save_heartbeat(beating(heartbeat))

    def withdraw(self) -> None:
        """Take back what this process wrote: the model turned out to be no fixed function."""
        self.database.withdraw(self._added)


class PanelWriter:
    """Writes the certificates of a panel's classifiers, each into its own run; states are kept beside the first.

    Args:
        parts: one per classifier.
    """

    def __init__(self, parts: Iterable[RunWriter]) -> None:
        self.parts = tuple(parts)
        self.done = set.intersection(*(part.done for part in self.parts))
        self.saved = self.parts[0].saved

    def finished(self, certificates: Sequence[Certificate]) -> None:
        """Store the certificates of one image."""
        for part, certificate in zip(self.parts, certificates, strict=True):
            part.finished(certificate)

    def unfinished(self, states: Mapping[int, Any]) -> None:
        """Store the states of images under way."""
        self.parts[0].unfinished(states)

    def failed(self, index: int, fault: ImageFault) -> None:
        """Store why an image has no certificates: one classifier's fault is that of the batch they share."""
        for part in self.parts:
            part.failed(index, fault)

    def beat(self, heartbeat: Heartbeat) -> None:
        """Store how the runs are getting on, in each of them."""
        for part in self.parts:
            part.beat(heartbeat)

    def withdraw(self) -> None:
        """Take back what this process wrote."""
        for part in self.parts:
            part.withdraw()
