"""The engine of a classifier's last question, and the choice behind "auto": both are made once, not per question."""

from __future__ import annotations

from smoothcert.arguments import check_kind
from smoothcert.certificates.identity import is_settled
from smoothcert.engines import Choice, Engine, Workload, build_engine, choose_engine, engine_rule
from smoothcert.noise import NoiseLaw

About = tuple[tuple[str, ...], dict[str, object]]
"""The identities of the classifiers, and the description of the noise."""


class KeptEngine:
    """Hands out engines for one model, the last one again if it is about the same weights: making one takes seconds.

    What "auto" took for one question it takes for the next, so that prediction runs the engine of certification and
    images certified one by one are all certified by the same, unless a job comes that is worth trying more engines.
    """

    def __init__(self) -> None:
        self._engine: tuple[object, Engine] | None = None
        self._choice: tuple[object, Choice] | None = None

    def engine(
        self, name: str, workload: Workload, num_classes: int, noise: NoiseLaw, about: About
    ) -> tuple[Engine, Choice | None]:
        """Return an engine, and for "auto" what its choice rests on.

        Args:
            name: of the engine, or "auto".
            workload: the model and the votes planned.
            num_classes: classes that every answer must have.
            noise: law of the noise.
            about: what the engine is about; another one is made when it changes.
        """
        check_kind("engine", name, str, "the name of an engine, or auto")
        choice = self.choice(workload, num_classes, noise, about) if name == "auto" else None
        model, example = workload.model, workload.example
        wanted = engine_rule(name, model, example) if choice is None else choice.name
        identity = (wanted, about, example.shape)
        last = self._engine
        # A copy of what may have been exchanged unseen is made anew; what calls the model itself cannot be old.
        sure = last is not None and (last[1].as_is or all(map(is_settled, about[0])))
        if last is None or last[0] != identity or not sure:
            last = self._engine = (identity, build_engine(wanted, model, num_classes, example, noise))
        return last[1], choice

    def choice(self, workload: Workload, num_classes: int, noise: NoiseLaw, about: About) -> Choice:
        """Return what "auto" takes; arguments as for `engine`."""
        key = (about, workload.example.shape)
        known = self._choice[1] if self._choice is not None and self._choice[0] == key else None
        choice, made = choose_engine(workload, num_classes, noise, known)
        self._choice = (key, choice)
        if made is not None:
            self._engine = ((choice.name, *key), made)
        return choice
