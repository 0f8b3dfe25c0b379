"""One worker of a cluster: a process with one engine and one thread."""

from __future__ import annotations

import os
import pickle
import platform
import signal
from typing import Any

import torch
from numpy.typing import NDArray

from smoothcert.engines import versions_for
from smoothcert.execution.cluster.greeting import Greeting, ask
from smoothcert.execution.cluster.worker_setup import WorkerSetup
from smoothcert.sampling import Chunk, Control, ImageFault, OneByOne, Sampler, sendable


class VoteWorker:
    """Draws the votes of chunks; made by Ray in a process of its own.

    Not trusted before its greeting was compared with what the driver would have said.
    """

    def __init__(self) -> None:
        self._sampler: Sampler | None = None
        self._voter: OneByOne | None = None
        self._control: Control | None = None

    def greet(self, packed: bytes) -> bytes:
        """Build the engine, answer the control question and say who this is; returns a pickled `Greeting`.

        Args:
            packed: a `WorkerSetup`.
        """
        self._sampler = self._voter = self._control = None
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the driver decides what Ctrl-C means
        torch.set_num_threads(1)
        name = f"{platform.node()} (process {os.getpid()})"
        versions: dict[str, str] = {}
        try:
            setup = WorkerSetup.unpacked(packed)
            versions = versions_for(setup.package)
            if versions != setup.versions:  # nothing of another release is run
                return pickle.dumps(Greeting(name, versions))
            self._sampler = setup.sampler()
            self._control = ask(self._sampler)
            self._voter = OneByOne(self._sampler, self._sampler.engine.example)
        except Exception as error:  # whatever it is, this worker is of no use
            return pickle.dumps(Greeting(name, versions, fault=f"{type(error).__name__}: {error}"))
        control = self._control
        return pickle.dumps(Greeting(name, versions, control.answers, control.seconds_per_vote))

    def draw(self, order: bytes, *large: NDArray[Any]) -> bytes:
        """Draw the votes of an order (`Orders.written`); returns votes or the fault of each chunk, pickled.

        An error that is no image's fault is returned in the place of all of them.

        Args:
            order: places, and the small images themselves.
            large: the other images, which the object store keeps once per machine.
        """
        assert self._voter is not None
        try:
            small, wanted = pickle.loads(order)
            arrays = [*small, *(array.copy() for array in large)]  # those of the store cannot be written to
            images = [torch.from_numpy(array) for array in arrays]
            drawn = self._voter.draw([Chunk(images[place], *key) for place, *key in wanted])
            return pickle.dumps([part.to_send() if isinstance(part, ImageFault) else part for part in drawn])
        except BaseException as error:
            return pickle.dumps(sendable(error))

    def answer_again(self) -> bytes:
        """Answer the control question once more; returns the logits pickled, or the error that was raised.

        Pickled here, as arrays of the store are read-only and its errors could not be told from a lost worker's.
        """
        assert self._sampler is not None
        assert self._control is not None
        try:
            return pickle.dumps(self._sampler.answers(self._control.chunks))
        except BaseException as error:
            return pickle.dumps(sendable(error))
