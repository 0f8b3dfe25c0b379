"""What a table file says: rows of a paper's table, what each is made of, what was published, and three budgets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from smoothcert.ensembles import EarlyExit, early_exit_from
from smoothcert.fields import Text
from smoothcert.report import FIGURES, Published
from smoothcert.training import TrainConfig, load_recipe
from smoothcert.workflows.reproducing.table_rules import BudgetName, refuse_inconsistent

Layer = Annotated[dict[Text, Any], Field(max_length=100)]
Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}$")]
"""Of a part, a row or a network: they are names of folders, too."""
Share = Annotated[float, Field(ge=0, le=100)]
_RECORD = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Images(BaseModel):
    """Which test images are certified: every so manieth from one place to another.

    Args:
        start: the first.
        stop: one past the last; None for the end.
        every: step.
    """

    model_config = _RECORD
    start: int = Field(default=0, ge=0)
    stop: int | None = Field(default=None, ge=1)
    every: int = Field(default=1, ge=1)

    def indices(self, size: int) -> range:
        """Return the places of the images in a split of so many."""
        return range(self.start, size if self.stop is None else min(self.stop, size), self.every)


class ReleasedLog(BaseModel):
    """The figures of one row on some images, read off certificates that its authors released.

    Args:
        images: which.
        acr: average certified radius.
        accuracy: certified accuracy in percent, one per radius of the part.
    """

    model_config = _RECORD
    images: Images
    acr: float = Field(ge=0)
    accuracy: tuple[Share, ...]


class PublishedEntry(BaseModel):
    """The figures of one row, as the paper prints them.

    Args:
        acr: average certified radius.
        accuracy: certified accuracy in percent, one per radius of the part, or of the first ones, null where it cannot
            be read; or the one at the row's own radius.
        figures: other figures by their names in `FIGURES`.
        over_seeds: mean and standard deviation of ACR over trainings.
        log: the figures on some images, for budgets that certify these.
    """

    model_config = _RECORD
    acr: float | None = Field(default=None, ge=0)
    accuracy: tuple[Share | None, ...] = ()
    figures: dict[Text, float] = {}
    over_seeds: tuple[float, float] | None = None
    log: ReleasedLog | None = None

    def read(self, radii: tuple[float, ...], images: Images) -> Published:
        """Return them as fractions by radius, with those of the images at hand, if they are told."""
        told = zip(radii, self.accuracy, strict=False)
        shares = {radius: share / 100 for radius, share in told if share is not None}
        log = None
        if self.log is not None and self.log.images == images:
            on_these = dict(zip(radii, (share / 100 for share in self.log.accuracy), strict=True))
            log = Published(self.log.acr, on_these)
        return Published(self.acr, shares, self.figures, self.over_seeds, log)


class Row(BaseModel):
    """One row: the networks it is made of, how they vote, how it is certified, and what was published.

    Args:
        label: what the paper calls it; its name by default.
        members: how many of which networks, in their order; one alone is that network itself.
        rule: voting rule.
        fit: way to fit weights on the hold-out.
        early_exit: kind and settings of an early exit.
        order_by_holdout: whether the member that is best on the noisy hold-out comes first.
        envelope: whether it is the upper envelope of the members, and no classifier.
        precision: quantise the networks first; None leaves them in float32.
        radius: certify this radius alone.
        procedure: by which, a name of `PROCEDURES`; CERTIFYADP by default.
        stages: votes of each stage.
        reference: row of CERTIFY that time is compared with.
        figures: other figures to give, by their names in `FIGURES`; those that are published are given anyway.
        tables: of the paper in which it stands; those of the part by default.
        published: the paper's figures; none for a row of one's own.
    """

    model_config = _RECORD
    label: Text | None = None
    members: dict[Text, Annotated[int, Field(ge=1, le=1000)]] = Field(min_length=1)
    rule: Text | None = None
    fit: Text | None = None
    early_exit: Layer | None = None
    order_by_holdout: bool = False
    envelope: bool = False
    precision: Literal["int8"] | None = None
    radius: float | None = Field(default=None, ge=0)
    procedure: Text = "staged"
    stages: tuple[int, ...] = (100, 1_000, 10_000, 120_000)
    reference: Text | None = None
    figures: tuple[Text, ...] = ()
    tables: tuple[Text, ...] | None = None
    published: PublishedEntry = PublishedEntry()

    @property
    def is_network(self) -> bool:
        """Whether it is one network by itself."""
        return sum(self.members.values()) == 1

    @property
    def exit(self) -> EarlyExit | None:
        """The early exit, made."""
        return None if self.early_exit is None else early_exit_from(self.early_exit)

    @property
    def wanted(self) -> tuple[str, ...]:
        """The names of all its figures."""
        return tuple(dict.fromkeys((*self.published.figures, *self.figures)))

    @property
    def is_timed(self) -> bool:
        """Whether one of its figures needs a run that shared no pass with others."""
        return any(FIGURES[name].is_timed for name in self.wanted)

    @property
    def classifier(self) -> tuple[Any, ...]:
        """All that makes it the classifier that it is; two rows that agree in it are one."""
        how = (
            self.rule,
            self.fit,
            repr(self.early_exit),
            self.order_by_holdout,
            self.envelope,
            self.precision,
        )
        return tuple(self.members.items()), *how, self.radius, self.procedure, self.stages


class Network(BaseModel):
    """A network that rows are made of.

    Args:
        recipe: by which it is trained.
        model: its architecture; the recipe's first by default.
        settings: of the method, that differ from the recipe's.
        changes: other settings of the training that do.
        first_seed: of the first one trained; those after it have the next ones.
    """

    model_config = _RECORD
    recipe: Text
    model: Text | None = None
    settings: Layer = {}
    changes: Layer = {}
    first_seed: int = Field(default=0, ge=0, le=1_000_000)

    def config(self, row: float, *layers: Mapping[str, Any]) -> TrainConfig:
        """Return its training at one row of the recipe, with the changes of a budget, later ones over earlier ones.

        Args:
            row: sigma, or what else the recipe's rows are told apart by.
            layers: settings of a training; `settings` in them are the method's.
        """
        settings, merged = dict(self.settings), {"model": self.model, **self.changes}
        for layer in layers:
            settings |= layer.get("settings", {})
            merged |= {name: value for name, value in layer.items() if name != "settings"}
        known = {name: value for name, value in merged.items() if value is not None}
        return load_recipe(self.recipe).config(sigma=row, settings=settings, **known)


class Part(BaseModel):
    """Rows of one noise.

    Args:
        noise: the recipes' row: sigma, or the first option of another law.
        radii: at which the paper gives certified accuracy, in pixel units.
        baseline: row that the others are compared with.
        tables: of the paper; all of the file's by default.
        rows: by name.
    """

    model_config = _RECORD
    noise: float = Field(gt=0)
    radii: tuple[float, ...] = Field(min_length=1)
    baseline: Text | None = None
    tables: tuple[Text, ...] | None = None
    rows: dict[Name, Row] = Field(min_length=1)


class Budget(BaseModel):
    """What a table is made with: everything that differs from the paper is told in the result.

    Args:
        images: to certify.
        votes: that bound each image's class; 100 more choose it.
        grid: certify the radii of the part and no others, by a sequential test that takes as many votes as each image
            needs, and `votes` at most.
        parts: that are done; all by default.
        leave_out: rows that are not done.
        int8: rows whose networks are quantised first, because their votes cost less; classifiers of their own.
        most_members: larger ensembles of one kind of network are made this small.
        training: settings of all trainings that differ from the recipes'.
        networks: the same for some networks, by name; `start` there is the network that they begin with, by name.
    """

    model_config = _RECORD
    images: Images = Images()
    votes: int = Field(default=100_000, ge=1)
    grid: bool = False
    parts: tuple[Text, ...] | None = None
    leave_out: tuple[Text, ...] = ()
    int8: tuple[Text, ...] = ()
    most_members: int | None = Field(default=None, ge=2)
    training: Layer = {}
    networks: dict[Text, Layer] = {}


class TableFile(BaseModel):
    """A paper's table, or several that share their networks.

    Args:
        name: how it is asked for; the name of its file.
        about: one sentence for listings.
        paper: where it was published.
        tables: of the paper.
        dataset: name of the data set.
        deviation: what differs from the paper whatever the budget; "none" where nothing does.
        networks: by name.
        parts: by name.
        budgets: by name; "paper" makes everything as in the paper, and so do all where none is told.
    """

    model_config = _RECORD
    name: Text
    about: Text
    paper: Text
    tables: tuple[Text, ...] = Field(min_length=1)
    dataset: Text
    deviation: Text = "none"
    networks: dict[Name, Network] = Field(min_length=1)
    parts: dict[Name, Part] = Field(min_length=1)
    budgets: dict[BudgetName, Budget]

    @field_validator("budgets")
    @classmethod
    def _with_the_paper(cls, given: dict[BudgetName, Budget]) -> dict[BudgetName, Budget]:
        named: tuple[BudgetName, ...] = get_args(BudgetName)
        wanted = [name for name in named if name in given or name == "paper" or not given]
        return {name: given.get(name, Budget()) for name in wanted}

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        refuse_inconsistent(self)
        return self
