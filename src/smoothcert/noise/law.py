"""What every noise law offers: noisy copies of an image, and the exchange of probability for radius."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from smoothcert.errors import InvalidArgumentError
from smoothcert.on_demand import torch
from smoothcert.options import Option, listed, make, options_of
from smoothcert.registry import Registry, name_of
from smoothcert.visible import brief


class NoiseLaw(ABC):
    """A law of noise around an image, with the radius that a class probability under it guarantees.

    Not a random source: the generator is always an argument. `radius` and `threshold` are vectorised, round
    in the safe direction (radius down, threshold up) and are inverse to each other up to that rounding. A law is a
    frozen dataclass in a file of its own, whose name is the law's.
    """

    norm: ClassVar[str]  # the norm in which radii are measured: "l2", "l1" or "l0"
    law_name: ClassVar[str]  # in the registry and in manifests: its file's
    holds_in_floats: ClassVar[bool] = (
        False  # whether noise as it is drawn is covered by the proof, rounding included
    )
    is_additive: ClassVar[bool] = True  # whether the noise is the same whatever the image

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.law_name = name_of(cls)

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return what a person chooses the law by: its fields; a table of trainings has one row for the first."""
        return options_of(cls)

    @classmethod
    def from_options(cls, given: Mapping[str, Any]) -> NoiseLaw:
        """Build the law from what a person gave; refuse what it does not take, and ask for what it needs.

        Args:
            given: values by the name of the option; None counts as not given.
        """
        law: NoiseLaw = make("noise", cls.law_name, cls, dict(given))
        return law

    def option_values(self) -> dict[str, Any]:
        """Return its own values by the name of the option, so that they can stand for what was not given."""
        return {option.name: getattr(self, option.field) for option in self.options()}

    def float_safe(self) -> NoiseLaw:
        """Return the law whose certificates hold in floating point too; refuse one that has no such form."""
        safe = self.float_safe_form()
        if safe is None:
            raise InvalidArgumentError(
                f"--sound has no float-safe form of noise {self.law_name!r}; use it with a model trained on Gaussian "
                "noise, or leave it out"
            )
        return safe

    def float_safe_form(self) -> NoiseLaw | None:
        """Return what is this law but for rounding and holds in floating point too, perhaps itself; None for none."""
        return self if self.holds_in_floats else None

    def is_same(self, other: NoiseLaw) -> bool:
        """Return whether the other law is this one, but for rounding and what follows from an image's shape."""
        one, two = self._rounded(), other._rounded()
        return one.law_name == two.law_name and one.option_values() == two.option_values()

    def _rounded(self) -> NoiseLaw:
        try:
            return self.float_safe_form() or self
        except InvalidArgumentError:  # too wide for it
            return self

    def admissible(self, moved: torch.Tensor, clean: torch.Tensor, reach: float) -> torch.Tensor:
        """Return a changed image as one that `check_image` takes, no further away; most laws take any.

        Args:
            moved: the changed image.
            clean: the image it was.
            reach: l2 distance between the two that must not be exceeded, in pixel units.
        """
        return moved

    @classmethod
    def from_sigma(cls, sigma: float) -> Self:
        """Build the law whose standard deviation per coordinate is `sigma`, in pixel units; l0 laws have none."""
        own = listed(option.name for option in cls.options())
        raise InvalidArgumentError(f"noise {cls.law_name!r} has no sigma (got {sigma!r}); give its own {own}")

    @property
    @abstractmethod
    def std(self) -> float:
        """Natural unit of radii: standard deviation per coordinate in pixel units; 1 where radii are counts."""

    @abstractmethod
    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        """Write noisy copies of `image` into `out` (rows x image shape), overwriting it.

        Never clips, but for laws that say so. The values depend on the number of rows, so callers that promise
        reproducible votes draw a fixed number of rows per call.
        """

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """Return the constructor's arguments, as plain numbers for a manifest."""

    @abstractmethod
    def radius(self, p_lower: ArrayLike) -> Any:
        """Return the radius guaranteed by a class probability of at least `p_lower`; 0 if that is <= 1/2.

        Args:
            p_lower: lower bound on the class probability, in [0, 1]; a number or an array.
        """

    @abstractmethod
    def threshold(self, radius: ArrayLike) -> Any:
        """Return the class probability that must be exceeded to certify `radius`; exactly 1/2 at radius 0.

        Args:
            radius: distance in this law's norm (pixel units; l0: coordinates), >= 0; a number or an array. A
                radius that no probability reaches gives 1.
        """

    def runner_up_radius(self, p_lower: ArrayLike, q_upper: ArrayLike) -> Any:
        """Return the radius guaranteed by p_lower for the class and q_upper for every other; 0 if p <= q.

        Args:
            p_lower: lower bound on the class probability, in [0, 1].
            q_upper: upper bound on the probability of each other class, in [0, 1].
        """
        raise InvalidArgumentError(
            f"noise {self.law_name!r} has no radius from the runner-up; leave runner_up out"
        )

    def for_shape(self, shape: Sequence[int]) -> NoiseLaw:
        """Return the law for images of one shape: itself, unless its radii depend on the coordinates' number."""
        return self

    def check_image(self, image: torch.Tensor) -> None:  # noqa: B027
        """Refuse an image that the law's theorem does not cover; most cover all."""

    def describe(self) -> dict[str, Any]:
        """Return name and parameters, enough for `noise_from` to build an equal law if it is registered."""
        return {"name": NOISE_LAWS.told_name(type(self)), **self.parameters()}


NOISE_LAWS: Registry[type[NoiseLaw]] = Registry("noise", "smoothcert.noise.laws", NoiseLaw)


def noise_from(description: dict[str, Any]) -> NoiseLaw:
    """Build a noise law from what `describe` returned; name the field that is missing, unknown or of a wrong value.

    Args:
        description: the law's name and parameters, perhaps from a file that somebody changed.
    """
    if not isinstance(description, dict) or "name" not in description:
        raise InvalidArgumentError(
            'a description of noise must be a table with a name, such as {"name": "gaussian", "sigma": 0.25}, '
            f"got {brief(description)}"
        )
    kind = NOISE_LAWS[description["name"]]
    given = {key: value for key, value in description.items() if key != "name"}
    takes = fields(kind)  # type: ignore[arg-type]  # every law is a dataclass
    for name in given:
        if name not in {field.name for field in takes}:
            raise InvalidArgumentError(
                f"noise {kind.law_name!r} has no parameter {brief(name)}; it takes "
                f"{', '.join(field.name for field in takes)}"
            )
    for field in takes:
        if field.default is MISSING and field.name not in given:
            raise InvalidArgumentError(f"noise {kind.law_name!r} lacks its parameter {field.name!r}; add it")
    return kind(**given)
