"""Where certificates go as they are made: a run folder, or memory."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeVar

from smoothcert.execution.heartbeat import Heartbeat
from smoothcert.sampling import ImageFault

Taken = TypeVar("Taken", contravariant=True)


class Sink(Protocol[Taken]):
    """Takes what the runner brings; called in one thread."""

    def finished(self, certificate: Taken) -> None:
        """Take the certificate of one decided image, or those of a panel."""
        ...

    def unfinished(self, states: Mapping[int, Any]) -> None:
        """Take the state of the images under way, by index, to continue from after a crash."""
        ...

    def failed(self, index: int, fault: ImageFault) -> None:
        """Take why the model cannot answer an image; the others are not concerned."""
        ...

    def beat(self, heartbeat: Heartbeat) -> None:
        """Take how the run is getting on."""
        ...
