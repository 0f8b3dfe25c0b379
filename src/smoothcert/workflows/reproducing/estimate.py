"""About how long a plan takes, from counted operations: to be known before hours are spent, not to be quoted."""

from __future__ import annotations

from dataclasses import dataclass

from smoothcert.data import DATASETS, held_out
from smoothcert.networks import describe_model
from smoothcert.training import FLOAT32, TrainConfig, is_emulated
from smoothcert.workflows.reproducing.plan import Plan, PlannedRow

# Multiply-adds per second of one core, of small convolutional networks on an ordinary CPU; good to a factor of two.
_TRAINING_RATE = 12e9
_VOTING_RATE = 24e9
_INT8_SAVING = 2.5  # time of a pass in float32 over that in int8: 3.2 with VNNI, less without
_BFLOAT16_SAVING = 2  # time of a training in float32 over that in bfloat16, where the processor has it
_BACKWARD = 3  # a pass forward and backward, in passes forward
_STAGED_SAVING = 12  # votes of CERTIFY over those of a staged row: the papers have 5 to 67
_STAGED_VOTES = 100_000
_GRID_SAVING = 3  # most votes of a grid over those that images need
_TEST_IMAGES = 10_000  # of the data sets that the tables are about


@dataclass(frozen=True)
class Estimate:
    """Seconds of one core.

    Args:
        training: by part and name of the network.
        certification: of all rows.
    """

    training: dict[tuple[str, str], float]
    certification: float

    def seconds(self, cores: int) -> float:
        """Return the time that so many cores take; one training never takes less than itself."""
        longest = max(self.training.values(), default=0.0)
        return max(sum(self.training.values()) / cores, longest) + self.certification / cores


def estimate(plan: Plan) -> Estimate:
    """Return about what a plan costs, nothing of it being done yet."""
    kinds = {
        (one.part, one.network): one.config for one in plan.trainings
    }  # members differ in their seed alone
    seconds = {kind: training_seconds(config) for kind, config in kinds.items()}
    work_of = {kind: _multiply_adds(config) for kind, config in kinds.items()}
    training = {(one.part, one.name): seconds[one.part, one.network] for one in plan.trainings}
    models = {(one.part, one.name): work_of[one.part, one.network] for one in plan.trainings}
    work = sum(_row_work(plan, row, models) for part in plan.parts for row in _rows_with_passes(plan, part))
    return Estimate(training, work / _VOTING_RATE)


def training_seconds(config: TrainConfig) -> float:
    """Return about how long one core trains."""
    source = DATASETS[config.dataset]
    size = source.train_size or 0
    left = size - (held_out(config.holdout) or 0)
    images = left if config.max_train_images is None else min(left, config.max_train_images)
    passes = config.epochs * images * config.objective().cost
    seconds = passes * _BACKWARD * _multiply_adds(config) / _TRAINING_RATE
    is_slow = config.precision == FLOAT32 or is_emulated(config.precision)
    return seconds if is_slow else seconds / _BFLOAT16_SAVING


def _multiply_adds(config: TrainConfig) -> int:
    return describe_model(config.model, config.heads, config.split).multiply_adds


def _rows_with_passes(plan: Plan, part: str) -> list[PlannedRow]:
    """Return the rows of a part without those that are answered by the passes of a wider one."""
    rows = plan.rows_of(part)
    widest = max(rows, key=lambda one: len(one.members))
    return [
        one
        for one in rows
        if one is widest
        or one.row.radius is not None
        or one.row.is_timed
        or one.row.precision != widest.row.precision
        or not set(one.members) <= set(widest.members)
    ]


def _row_work(plan: Plan, planned: PlannedRow, models: dict[tuple[str, str], int]) -> float:
    """Return the multiply-adds of certifying one row, as many in float32 as take its time."""
    images = len(plan.budget.images.indices(_TEST_IMAGES))
    votes: float = plan.budget.votes / (_GRID_SAVING if plan.budget.grid else 1)
    if planned.row.radius is not None:
        votes = _STAGED_VOTES / _STAGED_SAVING
    work = images * votes * sum(models[planned.part, member] for member in planned.members)
    return work if planned.row.precision is None else work / _INT8_SAVING
