"""When an ensemble stops asking its members: kinds by name, and their settings."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

from smoothcert.arguments import check_kind
from smoothcert.errors import InvalidArgumentError
from smoothcert.options import Option, listed, make, options_of
from smoothcert.registry import Registry, name_of
from smoothcert.visible import brief

if TYPE_CHECKING:
    from smoothcert.ensembles.early_exit_ensemble import EarlyExitEnsemble
    from smoothcert.ensembles.voting import VotingEnsemble


@dataclass(frozen=True)
class EarlyExit(ABC):
    """The settings of one kind of early exit: a frozen dataclass of plain values, in a file of the kind's name.

    Not the classifier: `over` makes that of an ensemble. The fields are what cards and manifests keep, and, with the
    sentences of the docstring, the options of the command line.
    """

    rule: ClassVar[str | None] = None
    """The only voting rule that it is made for; None for any."""

    @abstractmethod
    def over(self, ensemble: VotingEnsemble) -> EarlyExitEnsemble:
        """Return an ensemble that stops early, of one that does not."""

    def spares(self, members: int) -> bool:
        """Return whether it could stop before the last of so many members."""
        return True

    def sentence(self) -> str:
        """Return what it does, to be read after "rule soft, "."""
        settings = ", ".join(f"{name} {brief(value)}" for name, value in asdict(self).items())
        return f"early exit {name_of(type(self))} ({settings})"

    def describe(self) -> dict[str, Any]:
        """Return its kind and settings as plain values, for `early_exit_from` if it is registered."""
        return {"kind": EARLY_EXITS.told_name(type(self)), **asdict(self)}

    @classmethod
    def options(cls) -> tuple[Option, ...]:
        """Return what it can be told on a command line."""
        return options_of(cls)

    @classmethod
    def from_options(cls, given: dict[str, Any]) -> Self:
        """Return the early exit of options by name; None counts as not given."""
        made: Self = make("early exit", name_of(cls), cls, given)
        return made


EARLY_EXITS: Registry[type[EarlyExit]] = Registry(
    "early exit",
    "smoothcert.ensembles.exits",
    EarlyExit,
)


def check_early_exit(early_exit: EarlyExit | None) -> None:
    """Refuse what is no early exit, or one that a card could not give back."""
    if early_exit is None:
        return
    check_kind("early_exit", early_exit, EarlyExit, "an early exit such as Consensus(k=2), or None")
    about = early_exit.describe()
    if about["kind"] not in EARLY_EXITS or early_exit_from(about) != early_exit:
        raise InvalidArgumentError(
            f"early_exit {brief(early_exit)} is not in the registry, so no folder can name it; install it by an entry "
            f"point of the group {EARLY_EXITS.folder}"
        )


def early_exit_from(about: Mapping[str, Any]) -> EarlyExit:
    """Return the early exit that `describe` described; refuse what describes none that there is.

    Args:
        about: kind and settings, as they came from a file.
    """
    settings = dict(about)
    member = EARLY_EXITS[settings.pop("kind", None)]  # None is answered by the known ones
    names = [option.field for option in options_of(member)]
    if set(settings) != set(names):
        raise InvalidArgumentError(
            f"early exit {about['kind']!r} has the settings {listed(names)}, got {brief(sorted(settings))}"
        )
    try:
        made = member(**settings)
    except (TypeError, ValueError) as error:  # another package's code
        raise InvalidArgumentError(f"early exit {about['kind']!r}: {error}") from error
    return made
