"""The service: questions in, certificates out, each drawn once and kept before it is told."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch

from smoothcert.certificates import Prediction, PredictionPlan, Procedure
from smoothcert.errors import InvalidArgumentError
from smoothcert.sampling import ImageSampling, check_workers
from smoothcert.serve.drawing.live_sampling import LiveSampling
from smoothcert.serve.drawing.schedule import Schedule
from smoothcert.serve.keeping.answer import FINISHED, RUNNING, STOPPED, Answer
from smoothcert.serve.keeping.folder import ServiceFolder, Terms
from smoothcert.serve.keeping.writer import Writer
from smoothcert.serve.limits import Limits
from smoothcert.serve.question import Question, Secret, image_digest
from smoothcert.serve.served_model import ServedModel
from smoothcert.serve.telling import Telling
from smoothcert.serve.work import LeftError, Seat, Work

_PATIENCE = 5.0  # seconds for a stopped question to be written


@dataclass(frozen=True)
class Predicted:
    """A prediction and the digest of the image it is about."""

    prediction: Prediction
    image: str


class Service:
    """Answers questions about served models. Its coroutines belong to one event loop.

    Args:
        models: by name.
        folder: where certificates are kept, held by this process.
        secret: of that folder.
        limits: of requests.
        workers: that draw for each model; one per core by default.
        telling: told of votes and certificates.
    """

    def __init__(
        self,
        models: Mapping[str, ServedModel],
        folder: ServiceFolder,
        secret: Secret,
        limits: Limits,
        *,
        workers: int | None = None,
        telling: Telling,
    ) -> None:
        self.models, self.folder, self.limits = dict(models), folder, limits
        self.closing = False
        self._under_way = 0
        self._secret, self._telling = secret, telling
        self._works: dict[str, Work] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._writer = Writer(folder)
        threads = check_workers(workers)
        self._schedules = {
            name: Schedule(model.base, name, workers=threads, batch_size=model.batch_size)
            for name, model in self.models.items()
        }

    def model(self, name: str | None) -> ServedModel | None:
        """Return a model by name, or the only one for None; None if there is none."""
        if name is None and len(self.models) == 1:
            return next(iter(self.models.values()))
        return self.models.get(name or "")

    def name_of(self, identity: str) -> str | None:
        """Return the name under which a model is served; None if it is not."""
        return next((name for name, model in self.models.items() if model.base.model == identity), None)

    @property
    def fault(self) -> str | None:
        """Why the service is not ready; None if it is."""
        if self.closing:
            return "closing"
        return next((f"model {name} failed" for name, one in self._schedules.items() if one.fault), None)

    def enter(self) -> bool:
        """Count one more request being answered; return False where it is one too many."""
        if self._under_way >= self.limits.requests:
            return False
        self._under_way += 1
        self._telling.under_way.set(self._under_way)
        return True

    def leave(self) -> None:
        """Count one request less."""
        self._under_way -= 1
        self._telling.under_way.set(self._under_way)

    async def predict(self, model: ServedModel, image: torch.Tensor, n: int, alpha: float) -> Predicted:
        """Predict; not kept, because its votes are a function of the question."""
        if n > self.limits.votes:
            raise InvalidArgumentError(f"n must be at most {self.limits.votes:,} votes here, got {n:,}")
        plan, digest = PredictionPlan(n, alpha), image_digest(image)
        question = Question.of(model.base, {"predict": n, "alpha": float(alpha)}, digest)
        sampling = ImageSampling(
            0,
            image,
            plan.phases,
            plan.start(),
            model.classifier.num_classes,
            seed=self._secret.seed(question),
        )
        loop = asyncio.get_running_loop()
        done: asyncio.Future[None] = loop.create_future()

        def ended(error: BaseException | None = None) -> None:
            self._telling.drawn(model.name, sampling.votes_counted)
            with contextlib.suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(_settle, done, error)

        live = LiveSampling(sampling, on_end=ended, on_fault=ended)
        self._schedules[model.name].submit(live)
        try:
            await asyncio.wait_for(asyncio.shield(done), self.limits.seconds)
        finally:
            live.leave()
        if not sampling.decided:
            raise LeftError
        return Predicted(sampling.decision.verdict(), digest)

    async def ask(self, model: ServedModel, image: torch.Tensor, procedure: Procedure, alpha: float) -> Seat:
        """Join the question, begun if nobody asks it at the moment. Whoever joins has to leave."""
        name, terms = await asyncio.to_thread(self._prepare, model, image, procedure, alpha)
        while (work := self._works.get(name)) is not None:
            if work.join():
                return Seat(work, joined=True)
            await work.gone.wait()  # left by the last asker, and about to be written
        work = self._works[name] = Work(name, terms, asyncio.get_running_loop())
        work.join()
        task = asyncio.create_task(self._carry_out(work, model))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return Seat(work, joined=False)

    def _prepare(
        self, model: ServedModel, image: torch.Tensor, procedure: Procedure, alpha: float
    ) -> tuple[str, Terms]:
        self._refuse_large(procedure)
        certification = model.certification(procedure, alpha)
        planned = sum(phase.votes for phase in certification.plan.phases)
        if planned > self.limits.votes:
            raise InvalidArgumentError(
                f"the procedure may take {planned:,} votes, and {self.limits.votes:,} are the most here; ask for fewer"
            )
        digest = image_digest(image)
        about = {"procedure": certification.procedure, "alpha": certification.alpha}
        question = Question.of(certification, about, digest)
        certification = replace(certification, seed=self._secret.seed(question))
        names, where = model.class_names, model.classifier
        terms = Terms(certification, image, digest, names, where.folder, where.weights)
        return self._secret.name(question), terms

    def _refuse_large(self, procedure: Procedure) -> None:
        """Refuse, before any table is made, what would take long to plan."""
        for name, value in procedure.describe().items():
            many = value if isinstance(value, list | tuple) else [value]
            if len(many) > self.limits.radii:
                raise InvalidArgumentError(
                    f"{name} may hold {self.limits.radii} values here, got {len(many)}"
                )
            if any(type(one) is int and one > self.limits.votes for one in many):
                raise InvalidArgumentError(
                    f"{name} must be at most {self.limits.votes:,} votes here, got {value}"
                )

    async def _carry_out(self, work: Work, model: ServedModel) -> None:
        """Answer from the store, or draw."""
        try:
            stored, noted = await self._writer.known(work.name)
            stored = None if stored is None else stored.called(work.terms.class_names)
            work.repeated = stored is not None
            work.looked_up.set()
            if work.repeated:
                self._telling.repeated()
            engine = work.terms.certification.engine.engine_name
            if stored is not None and (noted is None or stored.terms["engine"] != engine):
                work.conclude(stored, FINISHED if noted is None else STOPPED)
                return
            if stored is not None:
                work.looked(stored)
            await asyncio.to_thread(self._begin, work, model, None if noted is None else noted.get("state"))
            if work.left and work.live is not None:
                work.live.leave()
            await asyncio.wait([work.ended])
        except Exception as error:
            work.fail(error)
        finally:
            del self._works[work.name]
            work.gone.set()

    def _begin(self, work: Work, model: ServedModel, saved: Any) -> None:
        certification = work.terms.certification
        sampling = certification.sampling(0, work.terms.image, saved)
        restored = sampling.votes_counted
        kept = 0 if work.answer is None else work.answer.samples  # a redrawn stream is silent up to there

        def on_look() -> None:
            if work.streamed and sampling.votes_counted > kept:
                certificate = certification.so_far(sampling)
                if certificate is not None:
                    self._writer.keep(work, certificate, final=False)

        def on_end() -> None:
            self._telling.drawn(model.name, sampling.votes_counted - restored)
            if sampling.decided:
                certificate = certification.conclude(sampling)
                self._telling.certified(model.name, certificate.outcome.name)
                self._writer.keep(work, certificate, final=True)
            else:
                self._writer.stop(work, certification.save(sampling))

        on_fault = partial(self._writer.give_up, work)
        work.live = LiveSampling(sampling, on_look=on_look, on_end=on_end, on_fault=on_fault)
        self._schedules[model.name].submit(work.live)

    async def find(self, name: str) -> tuple[Answer, str] | None:
        """Return a certificate and its status; one that nobody waits for any more is waited for."""
        work = self._works.get(name)
        if work is not None and work.left:
            await asyncio.wait([work.ended], timeout=_PATIENCE)
        elif work is not None and work.answer is not None:
            return work.answer, RUNNING
        answer, noted = await self._writer.known(name)
        return None if answer is None else (answer, FINISHED if noted is None else STOPPED)

    def stop_drawing(self) -> None:
        """Take nothing more, and end streams: they have what they need."""
        self.closing = True
        for work in self._works.values():
            if work.streamed:
                work.stop()

    async def close(self) -> None:
        """Leave all that is under way, keep its votes, and end the threads."""
        self.closing = True
        await asyncio.gather(*(asyncio.to_thread(one.close) for one in self._schedules.values()))
        await asyncio.to_thread(self._writer.close)
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=_PATIENCE)


def _settle(future: asyncio.Future[None], error: BaseException | None) -> None:
    if future.done():
        return
    if error is None:
        future.set_result(None)
    else:
        future.set_exception(error)
