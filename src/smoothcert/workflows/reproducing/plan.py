"""What is to be done for a table under a budget: which rows, which trainings, which images."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from smoothcert.certificates import PROCEDURES, FixedSample, Procedure, Sequential
from smoothcert.data import Dataset
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import INT8
from smoothcert.options import listed
from smoothcert.training import TrainConfig
from smoothcert.visible import brief
from smoothcert.workflows.reproducing.table_file import Budget, Part, Row, TableFile
from smoothcert.workflows.reproducing.table_rules import BUDGETS

_BETA = 0.001  # of giving up too early, as in the variance paper


@dataclass(frozen=True)
class Training:
    """One network that is needed.

    Args:
        part: name of the part it is for.
        name: of the network, with its number where there are several.
        network: name of the network in the table file.
        number: of the member, from 0 on.
        config: by which it is trained under the budget.
        published: by which the paper trained it, without a seed.
        start: name of the training whose weights it begins with, of the same part; None begins anew.
        is_int8_alone: whether every row that needs it certifies it in int8, and no training begins with it.
    """

    part: str
    name: str
    network: str
    number: int
    config: TrainConfig
    published: TrainConfig
    start: str | None = None
    is_int8_alone: bool = False


@dataclass(frozen=True)
class PlannedRow:
    """One row that is to be made.

    Args:
        part: name of its part.
        name: of the row.
        row: what it is made of, its members already as few as the budget allows.
        members: names of the trainings, in order.
    """

    part: str
    name: str
    row: Row
    members: tuple[str, ...]

    def procedure(self, votes: int) -> Procedure | None:
        """Return how its own radius is certified; None for a row that is certified as its part.

        Args:
            votes: for procedures that are told how many.
        """
        if self.row.radius is None:
            return None
        made = PROCEDURES[self.row.procedure]
        told = {"radius": self.row.radius, "stages": self.row.stages, "n": votes, "beta": _BETA}
        takes = {option.name for option in made.options()}
        return made.from_options({name: value for name, value in told.items() if name in takes})


@dataclass(frozen=True)
class Plan:
    """All that a table needs under a budget; nothing of it is done yet.

    Args:
        table: the table file.
        budget_name: minutes, hours or paper.
        rows: to be made, part by part.
        trainings: that they need, each once.
        left_out: sentences about rows and members that are not made.
    """

    table: TableFile
    budget_name: str
    rows: tuple[PlannedRow, ...]
    trainings: tuple[Training, ...]
    left_out: tuple[str, ...]

    @property
    def budget(self) -> Budget:
        """What the table is made with."""
        return _budget(self.table, self.budget_name)

    @property
    def parts(self) -> dict[str, Part]:
        """The parts that have rows to make."""
        wanted = {row.part for row in self.rows}
        return {name: part for name, part in self.table.parts.items() if name in wanted}

    def procedure(self, part: str) -> Procedure:
        """Return how the rows of a part are certified that have no stages of their own."""
        if self.budget.grid:
            return Sequential(radii=self.table.parts[part].radii, max_samples=self.budget.votes)
        return FixedSample(n=self.budget.votes)

    def rows_of(self, part: str) -> tuple[PlannedRow, ...]:
        """Return the rows of one part."""
        return tuple(row for row in self.rows if row.part == part)

    def indices(self, test: Dataset) -> range:
        """Return the test images to certify."""
        return self.budget.images.indices(len(test))


def make_plan(
    table: TableFile, budget: str, *, only: Collection[str] = (), data_dir: str | None = None
) -> Plan:
    """Return what is to be done.

    Args:
        table: the table file.
        budget: minutes, hours or paper.
        only: names of rows, or PART/ROW; all by default.
        data_dir: folder of the data set's files.
    """
    given = _budget(table, budget)
    chosen = given.parts or tuple(table.parts)
    left_out = [f"{name} is left out" for name in table.parts if name not in chosen]
    _refuse_unknown(only, table, budget, chosen)
    rows: list[PlannedRow] = []
    for name in chosen:
        rows += _rows_of(name, table.parts[name], given, only, left_out)
    if not rows:
        raise InvalidArgumentError(
            f"table {table.name!r} has no row to make under budget {budget}; give other rows"
        )
    return Plan(table, budget, tuple(rows), _trainings(table, given, rows, data_dir), tuple(left_out))


def _budget(table: TableFile, name: str) -> Budget:
    if name not in BUDGETS:
        raise InvalidArgumentError(f"budget must be one of {', '.join(BUDGETS)}, got {brief(name)}")
    found = {str(known): budget for known, budget in table.budgets.items()}
    if name not in found:
        raise InvalidArgumentError(
            f"table {table.name!r} says nothing of budget {name}; give one of {', '.join(found)}"
        )
    return found[name]


def _rows_of(
    name: str, part: Part, budget: Budget, only: Collection[str], left_out: list[str]
) -> list[PlannedRow]:
    """Return the rows of one part; those that a smaller ensemble makes equal to another are left out."""
    rows: list[PlannedRow] = []
    others = []
    for label, published in part.rows.items():
        full = published.model_copy(update={"precision": INT8}) if label in budget.int8 else published
        if label in budget.leave_out:
            left_out.append(f"{name} {label} is left out")
            continue
        if only and label not in only and f"{name}/{label}" not in only:
            others.append(label)
            continue
        row = _smaller(full, budget.most_members)
        same = next((one.name for one in rows if one.row.classifier == row.classifier), None)
        if row is not full:
            few = sum(row.members.values())
            told = f"{name} {label} has {few} members instead of {sum(full.members.values())}"
            left_out.append(told if same is None else f"{told}, which is {same}, and is left out")
        exit_ = row.exit
        if exit_ is not None and not exit_.spares(sum(row.members.values())):
            left_out.append(f"{name} {label} is left out, because so few members leave nobody to spare")
            continue
        if same is None or row is full:
            rows.append(PlannedRow(name, label, row, _member_names(row)))
    if others:
        left_out.append(f"{name}: {listed(others)} not made yet")
    return rows


def _smaller(row: Row, most: int | None) -> Row:
    """Return the row with as many members as the budget allows, where they are of one kind."""
    if most is None or len(row.members) > 1 or sum(row.members.values()) <= most:
        return row
    (network,) = row.members
    return row.model_copy(update={"members": {network: most}})


def _member_names(row: Row) -> tuple[str, ...]:
    return tuple(f"{network}-{number}" for network, count in row.members.items() for number in range(count))


def _trainings(
    table: TableFile, budget: Budget, rows: list[PlannedRow], data_dir: str | None
) -> tuple[Training, ...]:
    """Return every network that some row needs, once."""
    place: Mapping[str, Any] = {} if data_dir is None else {"data_dir": data_dir}
    most: dict[tuple[str, str], int] = {}
    for planned in rows:
        for network, count in planned.row.members.items():
            most[planned.part, network] = max(count, most.get((planned.part, network), 0))
    in_float32 = {
        (row.part, network) for row in rows if row.row.precision is None for network in row.row.members
    }
    configs: dict[tuple[str, str], TrainConfig] = {}
    while left := [needed for needed in most if needed not in configs]:
        for part, network in left:
            layers = budget.training, budget.networks.get(network, {}), place
            own = table.networks[network].config(table.parts[part].noise, *layers)
            configs[part, network] = own
            if own.start is not None:  # as many of those that they begin with
                most[part, own.start] = max(most[part, network], most.get((part, own.start), 0))
                in_float32.add((part, own.start))
    return tuple(
        Training(
            part,
            f"{network}-{number}",
            network,
            number,
            own.model_copy(update={"seed": table.networks[network].first_seed + number, "start": None}),
            table.networks[network].config(table.parts[part].noise, place),
            None if own.start is None else f"{own.start}-{number}",
            is_int8_alone=(part, network) not in in_float32,
        )
        for (part, network), own in configs.items()
        for number in range(most[part, network])
    )


def _refuse_unknown(only: Collection[str], table: TableFile, budget: str, parts: Collection[str]) -> None:
    """Refuse rows that there are not, in those parts that the budget makes."""
    known = [row for name in parts for row in table.parts[name].rows]
    places = {f"{part}/{row}" for part in parts for row in table.parts[part].rows}
    for name in only:
        if name not in known and name not in places:
            raise InvalidArgumentError(
                f"table {table.name!r} has no row {brief(name)} in {', '.join(parts)}, which budget {budget} makes; "
                f"known: {', '.join(dict.fromkeys(known))}"
            )
