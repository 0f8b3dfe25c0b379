"""The one thread that reads and writes the store: what is told has been written before."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

from smoothcert.certificates import Certificate
from smoothcert.errors import EngineDisagreementError, UnsoundModelError
from smoothcert.serve.keeping.answer import FINISHED, STOPPED, Answer
from smoothcert.serve.keeping.folder import ServiceFolder
from smoothcert.serve.keeping.kept_names import KeptNames
from smoothcert.serve.work import LeftError, Work

Known = tuple[Answer | None, dict[str, Any] | None]
"""A certificate, and what was noted of one that can grow."""


class Writer:
    """Keeps certificates and tells the questions they belong to. May be called from any thread.

    Args:
        folder: of the service.
    """

    def __init__(self, folder: ServiceFolder) -> None:
        self._folder = folder
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="writer")
        self._kept: dict[int, KeptNames] = {}  # since the start, by the engine that voted

    async def known(self, name: str) -> Known:
        """Return what there is of a certificate, all that was to be written before included."""
        look = partial(_known, self._folder, name)
        return await asyncio.get_running_loop().run_in_executor(self._thread, look)

    def keep(self, work: Work, certificate: Certificate, *, final: bool) -> None:
        """Store a certificate, then tell it: the last one, or what is proven by now."""
        self._do(work, partial(self._keep, work, certificate, final))

    def stop(self, work: Work, state: dict[str, Any] | None) -> None:
        """Note where a question was left, then tell what it has proven."""
        self._do(work, partial(self._stop, work, state))

    def give_up(self, work: Work, error: BaseException) -> None:
        """Tell that there will be no answer, after all that was kept before.

        Of a model that failed a check no certificate made since the start stays behind, as of a run.
        """
        self._do(work, partial(self._give_up, work, error))

    def close(self) -> None:
        """Wait until all is written."""
        self._thread.shutdown(wait=True)
        while self._kept:
            self._kept.popitem()[1].close()

    def _do(self, work: Work, job: Callable[[], None]) -> None:
        """Do something in the thread; what goes wrong there is told, and no more votes are drawn."""

        def done() -> None:
            try:
                job()
            except BaseException as error:
                work.tell(work.fail, error)
                if work.live is not None:
                    work.live.leave()

        with contextlib.suppress(RuntimeError):  # closed
            self._thread.submit(done)

    def _keep(self, work: Work, certificate: Certificate, final: bool) -> None:
        terms, name = work.terms, work.name
        if work.database is None:
            work.database = self._folder.open_run(name, terms)
            if work.database is None:  # made otherwise, and it stays
                stored = self._folder.find(name)
                assert stored is not None
                work.tell(work.conclude, stored.called(terms.class_names), STOPPED)
                return
            self._note(work)
            if not final:  # before the first row: a crash leaves a certificate that can grow
                self._folder.note_under_way(name, None)
        self._folder.write(work.database, certificate, terms)
        answer = Answer.of(name, certificate, terms.image_digest, terms.class_names)
        if not final:
            work.tell(work.looked, answer)
            return
        work.database.close(finished=True)
        self._folder.note_finished(name)
        work.tell(work.conclude, answer, FINISHED)

    def _stop(self, work: Work, state: dict[str, Any] | None) -> None:
        if work.database is not None:
            work.database.close(finished=True)
        self._folder.note_under_way(work.name, state)
        stored = self._folder.find(work.name)
        if stored is None:
            work.tell(work.fail, LeftError())
        else:
            work.tell(work.conclude, stored.called(work.terms.class_names), STOPPED)

    def _give_up(self, work: Work, error: BaseException) -> None:
        if work.database is not None:
            work.database.close(finished=True)
        if isinstance(error, EngineDisagreementError | UnsoundModelError):
            self._withdraw(id(work.terms.certification.engine))
        work.tell(work.fail, error)

    def _note(self, work: Work) -> None:
        """Note a certificate before it is written, so that none is forgotten."""
        engine = id(work.terms.certification.engine)
        if engine not in self._kept:
            self._kept[engine] = KeptNames(self._folder.folder)
        self._kept[engine].add(work.name)

    def _withdraw(self, engine: int) -> None:
        """Take back what an engine has made since the start."""
        names = self._kept.pop(engine, None)
        if names is not None:
            for name in names:
                self._folder.withdraw(name)
            names.close()


def _known(folder: ServiceFolder, name: str) -> Known:
    return folder.find(name), folder.under_way(name)
