"""A sampler in a process of its own, for classifiers that threads must not share."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import pickle
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # comes with scikit-learn

from smoothcert.errors import ModelRaisedError, WorkerError
from smoothcert.sampling.chunk import Chunk, ChunkVotes
from smoothcert.sampling.sampler import Sampler

ErrorType = TypeVar("ErrorType", bound=BaseException)

_ORPHAN_SECONDS = 5.0  # how often a child looks whether its parent still lives
_GRACE_SECONDS = 10.0  # how long a child that was told to end may take before it is killed
_LEAST_PATIENCE, _PATIENCE = (
    60.0,
    200.0,
)  # seconds, and times what votes take: then a child that is silent hangs
_DEATH_SIGNAL = 1  # Linux's number of the request to be told that the parent died

# A child inherits the parent's end of every pipe that is open when it is forked, and would keep its siblings
# from noticing that the parent is gone; so it closes them, and nobody forks while one is being made.
_fork_lock = threading.Lock()
_parent_ends: set[Connection] = set()


def can_fork() -> bool:
    """Return whether a child of this process could run a model: on Linux, and before CUDA was used."""
    return sys.platform == "linux" and not torch.cuda.is_initialized()  # type: ignore[no-untyped-call]


class ProcessSampler:
    """A forked child with a sampler, driven from one thread of the parent as if it were the sampler itself.

    Not for other systems than Linux, nor for a model that uses CUDA: neither survives a fork. The model is
    inherited, never pickled; what it writes into its own memory stays in the child.

    Args:
        make_sampler: makes the sampler, in the child.
    """

    def __init__(self, make_sampler: Callable[[], Sampler]) -> None:
        context = multiprocessing.get_context("fork")
        with _fork_lock:
            self._pipe, theirs = context.Pipe()
            _parent_ends.add(self._pipe)
            self._process = context.Process(
                target=_serve, args=(make_sampler, theirs, os.getpid()), name="smoothcert", daemon=True
            )
            try:
                with _quiet_fork():
                    self._process.start()
            except BaseException:
                _parent_ends.discard(self._pipe)
                self._pipe.close()
                raise
            finally:
                theirs.close()
        self.pid = self._process.pid
        self.seconds_per_vote = 0.1  # until somebody knows better

    def draw(self, chunks: Sequence[Chunk]) -> list[ChunkVotes]:
        """Do what `Sampler.draw` does, in the child; raise what it raised there, or that it died."""
        patience = _LEAST_PATIENCE + _PATIENCE * self.seconds_per_vote * sum(chunk.votes for chunk in chunks)
        return [ChunkVotes(*part) for part in self._ask("draw", chunks, patience)]

    def answers(self, chunks: Sequence[Chunk], patience: float = 60.0) -> NDArray[Any]:
        """Do what `Sampler.answers` does, in the child; raise `WorkerError` after `patience` seconds without a word."""
        return np.asarray(self._ask("answers", chunks, patience))

    def _ask(self, what: str, chunks: Sequence[Chunk], patience: float) -> Any:
        images = list({id(chunk.image): chunk.image for chunk in chunks}.values())
        place = {id(image): number for number, image in enumerate(images)}
        wanted = [(place[id(c.image)], c.index, c.phase, c.number, c.votes) for c in chunks]
        # Arrays, not tensors: torch would hand those over as shared memory, one file descriptor each.
        order = pickle.dumps((what, [image.numpy() for image in images], wanted))
        try:
            self._pipe.send_bytes(order)
            if not self._pipe.poll(patience):
                self.kill()  # it would not hear that it is told to end
                raise WorkerError(
                    f"worker process {self.pid} did not answer within {patience:.0f} s, as a model with threads of its "
                    "own may do; run again with workers=1 (a stored run continues with resume)"
                )
            answer = pickle.loads(self._pipe.recv_bytes())
        except (EOFError, OSError) as error:
            raise self._death() from error
        if isinstance(answer, BaseException):
            raise answer
        return answer

    def kill(self) -> None:
        """End the child at once, whatever it does."""
        self._process.kill()

    def close(self) -> None:
        """End the child and wait for it, also if it has ended already; to be called once."""
        with _fork_lock:
            _parent_ends.discard(self._pipe)
            self._pipe.close()  # the child's next read finds the end
        self._process.join(_GRACE_SECONDS)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()

    def _death(self) -> WorkerError:
        self._process.join(_GRACE_SECONDS)
        code = self._process.exitcode
        if code is not None and code < 0:
            how = f"was ended by signal {-code}; signal 9 often means that memory ran out"
        else:
            how = f"ended by itself with exit code {code}"
        return WorkerError(
            f"worker process {self.pid} {how}; run again with fewer workers, or with workers=1 to run the model "
            "in this process (a stored run continues with resume)"
        )


@contextlib.contextmanager
def _quiet_fork() -> Iterator[None]:
    """Fork without the warning about threads, and without a moment in which Ctrl-C reaches the child.

    Python warns because a lock held by another thread stays locked in the child. torch's and NumPy's threads
    idle here, and the child uses one thread of each.
    """
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _serve(make_sampler: Callable[[], Sampler], pipe: Connection, parent: int) -> None:
    """Answer orders until the parent closes its end or is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides what Ctrl-C means
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    _end_with_parent()
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    for end in _parent_ends:
        end.close()
    _one_thread()
    sampler: Sampler | None = None
    with contextlib.suppress(EOFError, OSError):
        while True:
            while not pipe.poll(_ORPHAN_SECONDS):
                if os.getppid() != parent:
                    return
            order = pipe.recv_bytes()
            try:
                sampler = sampler or make_sampler()
                answer = pickle.dumps(_done(sampler, order))
            except BaseException as error:
                answer = pickle.dumps(sendable(error))
            pipe.send_bytes(answer)


def _end_with_parent() -> None:
    """Ask Linux to end this child with its parent, also in the middle of a model's call."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DEATH_SIGNAL, int(signal.SIGKILL))


def _one_thread() -> None:
    """Leave one thread to torch and to every OpenMP runtime: their other threads were not inherited."""
    torch.set_num_threads(1)
    threadpool_limits(1, user_api="openmp")


def _done(sampler: Sampler, order: bytes) -> Any:
    what, arrays, wanted = pickle.loads(order)
    images = [torch.from_numpy(array) for array in arrays]
    chunks = [Chunk(images[place], *rest) for place, *rest in wanted]
    if what == "answers":
        return sampler.answers(chunks)
    return [(part.votes, part.evaluations, part.seconds, part.classes) for part in sampler.draw(chunks)]


def sendable(error: ErrorType) -> ErrorType | ModelRaisedError:
    """Return an error that can leave this process: itself where it can be unpacked again, else its text."""
    try:
        if type(pickle.loads(pickle.dumps(error))) is type(error):
            return error
    except Exception:
        pass  # an error class of the model's own, or one that holds what cannot be sent
    return ModelRaisedError(f"{type(error).__name__}: {error}")
