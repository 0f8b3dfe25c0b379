"""The entry point: a classifier, a noise law, and the questions one can ask of the two."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch

from smoothcert.arguments import check_kind, is_whole
from smoothcert.certificates.asked import Asked
from smoothcert.certificates.certification import Certification
from smoothcert.certificates.identity import Subject, subjects_of
from smoothcert.certificates.images import check_image
from smoothcert.certificates.kept_engine import KeptEngine
from smoothcert.certificates.panel_certification import PanelCertification
from smoothcert.certificates.prediction import PredictionPlan
from smoothcert.certificates.procedure import Procedure
from smoothcert.certificates.procedures.fixed import FixedSample
from smoothcert.certificates.trained_for import TrainedFor
from smoothcert.engines import Choice, Model, Workload
from smoothcert.ensembles import HoldoutUse
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import as_model, refuse_training_mode
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import ON_NAN, ImageSampling, VoteSource
from smoothcert.seeding import check_seed


class SmoothedClassifier:
    """The class that a classifier answers most often under noise, with certificates about it.

    Not a trained thing: the classifier is used as it is and never changed.

    Args:
        model: any callable from a float32 torch tensor (rows x image shape) to logits (rows x classes): an array of
            any library, or an answer with such a part (`logits`, or the only table of one row per image); a torch
            module must be in eval mode. Or a fitted estimator of scikit-learn with classes 0 .. num_classes - 1.
            Threads take turns with code of the user's own.
        noise: law of the noise, e.g. `Gaussian(0.25)`.
        num_classes: number of logits.
        on_nan: "raise" refuses NaN or infinite logits; "count" counts such votes for no class.
        allow_any_range: accept images with values outside [0, 1].
        input_shape: shape of one image, where it is known; other shapes are refused before the model sees them.
        class_names: names for the classes, where known.
        folder: the model folder or file it was loaded from, noted for audits; changes nothing.
    """

    def __init__(
        self,
        model: Model,
        noise: NoiseLaw,
        num_classes: int,
        *,
        on_nan: str = "raise",
        allow_any_range: bool = False,
        input_shape: tuple[int, ...] | None = None,
        class_names: tuple[str, ...] | None = None,
        folder: Path | None = None,
    ) -> None:
        if not isinstance(noise, NoiseLaw):
            raise InvalidArgumentError(f"noise must be a noise law such as Gaussian(0.25), got {noise!r}")
        if not is_whole(num_classes, 2):
            raise InvalidArgumentError(f"num_classes must be an integer of at least 2, got {num_classes!r}")
        check_kind("on_nan", on_nan, str, f"one of {', '.join(ON_NAN)}")
        if on_nan not in ON_NAN:
            raise InvalidArgumentError(f"on_nan must be one of {', '.join(ON_NAN)}, got {on_nan!r}")
        self.model, self.noise, self.num_classes = as_model(model, num_classes), noise, num_classes
        refuse_training_mode(model)
        self.on_nan, self.allow_any_range = on_nan, allow_any_range
        self.input_shape, self.class_names = input_shape, class_names
        self.folder = folder
        # Hold-out images that chose something about the model: `sc.certify` refuses them.
        self.fitted: tuple[HoldoutUse, ...] = ()
        # What its card says; `sc.certify` says so where it is asked about something else.
        self.trained_for: TrainedFor | None = None
        # Of a file or a factory of the user's own: what a run's manifest says about it, and where its weights are.
        self.source: dict[str, Any] | None = None
        self.weights: Path | None = None
        self._kept = KeptEngine()

    def __repr__(self) -> str:
        kind = type(self.model).__qualname__
        return f"SmoothedClassifier({kind}, {self.noise!r}, num_classes={self.num_classes})"

    def certify(
        self,
        image: Any,
        procedure: Procedure | None = None,
        *,
        alpha: float = 0.001,
        seed: int | None = None,
        index: int | Sequence[int] = 0,
        engine: str = "auto",
        workers: int | None = None,
        batch_size: int | None = None,
    ) -> Any:
        """Return a `Certificate` for one image, or a list of them for many; each false with probability at most alpha.

        Many share forward passes, and the votes of each are those of a call of its own with the same seed and index.

        Args:
            image: tensor, array or image of Pillow, of any shape the model takes, values in [0, 1]. A list or tuple of
                those is many images; so is an array of one more dimension than `input_shape`, where that is known.
            procedure: how to spend votes; CERTIFY with 100 + 100,000 by default.
            alpha: error probability, one-sided.
            seed: None draws a secret one; a seed known beforehand lets an adversary fit the image to it.
            index: the image's place in the keyed streams; of many, that of the first (the others follow), or a list.
            engine: "auto" or the name of an engine.
            workers: threads, or processes for code of the user's own; one per core by default.
            batch_size: most rows per forward pass; does not change any vote.
        """
        procedure = FixedSample() if procedure is None else procedure
        asked = Asked.about(image, index, self.input_shape, partial(self.check_image, alone=True))
        certification = asked.for_all(
            self.certification(procedure, alpha=alpha, seed=seed, engine=engine, example=asked.images[0])
        )
        found = asked.answers(
            certification,
            certification.sampling,
            certification.conclude,
            workers=workers,
            batch_size=batch_size,
        )
        return found if asked.many else found[0]

    def predict(
        self,
        image: Any,
        n: int = 1_000,
        alpha: float = 0.001,
        *,
        seed: int | None = None,
        index: int | Sequence[int] = 0,
        engine: str = "auto",
        workers: int | None = None,
        batch_size: int | None = None,
    ) -> Any:
        """Return the smoothed classifier's class, wrong with probability at most alpha, or None to abstain.

        Not a certificate: it says nothing about images nearby. Arguments as for `certify`; `n` votes are drawn for each
        image, and many images get a list.
        """
        plan = PredictionPlan(n, alpha)
        asked = Asked.about(image, index, self.input_shape, partial(self.check_image, alone=True))
        (subject,) = _refuse_panel(subjects_of(self.model))
        (phase,) = plan.phases
        example = asked.images[0]
        noise = self.noise.for_shape(example.shape)
        law = noise.describe()
        source = VoteSource(**self._source((subject,), noise, law, phase.name, n, seed, engine, example))
        found = asked.answers(
            asked.for_all(source),
            lambda place, one: ImageSampling(place, one, (phase,), plan.start(), self.num_classes),
            lambda sampling: sampling.decision.verdict().predicted,
            workers=workers,
            batch_size=batch_size,
        )
        return found if asked.many else found[0]

    def certification(
        self,
        procedure: Procedure,
        *,
        alpha: float,
        seed: int | None,
        engine: str,
        example: torch.Tensor,
        images: int = 1,
    ) -> Certification:
        """Bind a procedure to this classifier; nothing has been drawn yet.

        Args:
            procedure: how to spend votes.
            alpha: error probability per image, one-sided.
            seed: of all streams; None draws a secret one.
            engine: "auto" or the name of an engine.
            example: one of the images, as `check_image` returned it.
            images: how many images there will be, for choices about speed.
        """
        (subject,) = _refuse_panel(subjects_of(self.model))
        how = self._bound((subject,), procedure, alpha, seed, engine, example, images)
        return Certification(**how, model=subject.identity, ensemble=subject.ensemble, source=self.source)

    def panel_certification(
        self,
        procedure: Procedure,
        *,
        alpha: float,
        seed: int | None,
        engine: str,
        example: torch.Tensor,
        images: int = 1,
    ) -> PanelCertification:
        """Bind a procedure to every classifier that the model answers for; arguments as for `certification`."""
        subjects = subjects_of(self.model)
        how = self._bound(subjects, procedure, alpha, seed, engine, example, images)
        return PanelCertification.of(
            [
                Certification(**how, model=one.identity, ensemble=one.ensemble, answer=place)
                for place, one in enumerate(subjects)
            ]
        )

    def engine_choice(self, example: torch.Tensor, planned_votes: int) -> Choice:
        """Return what "auto" takes, by measurement where so many votes would take long; later questions keep to it.

        Args:
            example: one of the images, as `check_image` returned it.
            planned_votes: in all.
        """
        noise = self.noise.for_shape(example.shape)
        about = (tuple(subject.identity for subject in subjects_of(self.model)), noise.describe())
        workload = Workload(self.model, example, planned_votes)
        return self._kept.choice(workload, self.num_classes, noise, about)

    def check_image(self, image: Any, *, alone: bool = False) -> torch.Tensor:
        """Return an image as a tensor, refusing one that this classifier does not take.

        Args:
            image: what a user calls an image.
            alone: whether it comes without a data set, which would have been told how its axes lie.
        """
        any_range, shape = self.allow_any_range, self.input_shape
        tensor = check_image(image, allow_any_range=any_range, input_shape=shape, alone=alone)
        self.noise.for_shape(tensor.shape).check_image(tensor)
        return tensor

    def _bound(
        self,
        subjects: tuple[Subject, ...],
        procedure: Procedure,
        alpha: float,
        seed: int | None,
        engine: str,
        example: torch.Tensor,
        images: int,
    ) -> dict[str, Any]:
        """Return what all certifications by a procedure have in common, as arguments."""
        if not isinstance(procedure, Procedure):
            raise InvalidArgumentError(
                f"procedure must be one of FixedSample, Staged, Sequential, GroupSequential, got {procedure!r}"
            )
        noise = self.noise.for_shape(example.shape)
        law, plan = noise.describe(), procedure.plan(noise, alpha)
        votes, phase = images * plan.planned_votes, plan.phases[0].name
        return {
            "plan": plan,
            "alpha": float(alpha),
            "procedure": procedure.describe(),
            "law": law,
            "images": images,
            **self._source(subjects, noise, law, phase, votes, seed, engine, example),
        }

    def _source(
        self,
        subjects: tuple[Subject, ...],
        noise: NoiseLaw,
        law: dict[str, Any],
        first_phase: str,
        planned_votes: int,
        seed: int | None,
        engine: str,
        example: torch.Tensor,
    ) -> dict[str, Any]:
        """Return the arguments of a `VoteSource`."""
        seed, workload = check_seed(seed), Workload(self.model, example, planned_votes)
        about = (tuple(subject.identity for subject in subjects), law)
        used, choice = self._kept.engine(engine, workload, self.num_classes, noise, about)
        return {
            "engine": used,
            "choice": choice,
            "noise": noise,
            "seed": seed,
            "on_nan": self.on_nan,
            "first_phase": first_phase,
            "planned_votes": planned_votes,
        }


def _refuse_panel(subjects: tuple[Subject, ...]) -> tuple[Subject, ...]:
    if len(subjects) != 1:
        raise InvalidArgumentError(
            f"the model is a panel, which answers for {len(subjects)} classifiers; use certify_panel with one name per "
            "answer"
        )
    return subjects
