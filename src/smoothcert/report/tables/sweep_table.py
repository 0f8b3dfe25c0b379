"""A sweep as one table for a terminal: radius and accuracy beside what they cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from smoothcert.certificates import ACR_CAVEAT, Reading
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import mark_lines, percent, share_cells
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.summaries import common_readings
from smoothcert.report.tables.terminal import print_tables
from smoothcert.rounding import floor_digits


@dataclass(frozen=True)
class SweepRow:
    """What one value of the setting led to: certificates, and the costs of the SOME paper's Tables 5 and 8.

    Args:
        value: of the setting, as it was given.
        summary: of the certificates.
        heads: number of heads; 1 for a network without.
        head_accuracy: share of noisy hold-out images that each head has right alone; empty without heads.
        accuracy: that share for the model itself.
        multiply_adds: of one image's forward pass, as papers count.
        parameters: trainable parameters.
        training_seconds: in all.
        epochs: of the training.
        memory_mb: largest memory of the training process (of the device, where that is no CPU), in MB.
    """

    value: str
    summary: Summary
    heads: int
    head_accuracy: tuple[float, ...]
    accuracy: float | None
    multiply_adds: int
    parameters: int
    training_seconds: float
    epochs: int
    memory_mb: float

    @property
    def certification_seconds(self) -> float:
        """Worker seconds per certified image."""
        return self.summary.seconds / max(len(self.summary.results), 1)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, unrounded, those of the run with them."""
        own = {name: value for name, value in vars(self).items() if name != "summary"}
        return {**own, "certification_seconds": self.certification_seconds, "run": self.summary.to_json()}


def print_sweep(over: str, rows: Sequence[SweepRow]) -> None:
    """Print one row per value: ACR, certified accuracy (%), accuracy of the heads, and costs; then the small print.

    Args:
        over: name of the setting.
        rows: what `run_sweep` returned.
    """
    readings = common_readings([row.summary for row in rows])
    costs = (
        "heads %",
        "noisy %",
        "M mult-adds",
        "parameters",
        "train s",
        "s/epoch",
        "train MB",
        "cert. s/image",
    )
    table = make_table(
        f"Sweep over {over}: certified accuracy (%) at radius, rounded down, and costs",
        (over, "ACR", *(f"r={radius:g}" for radius in readings[0].radii), *costs),
        (
            (
                row.value,
                floor_digits(row.summary.acr, 5),
                *share_cells(reading),
                _range(row.head_accuracy),
                _range(()) if row.accuracy is None else percent(row.accuracy),
                f"{row.multiply_adds / 1e6:,.2f}",
                f"{row.parameters:,}",
                f"{row.training_seconds:,.1f}",
                f"{row.training_seconds / row.epochs:,.2f}",
                f"{row.memory_mb:,.0f}",
                f"{row.certification_seconds:.3f}",
            )
            for row, reading in zip(rows, readings, strict=True)
        ),
        costs[0],
    )
    print_tables([table], _small_print(over, rows, readings), width=200)


def _small_print(over: str, rows: Sequence[SweepRow], readings: Sequence[Reading]) -> Iterator[str]:
    """Yield what each head has right, what the figures are about, and what to mind."""
    for row in rows:
        if row.head_accuracy and row.accuracy is not None:
            alone = ", ".join(percent(share) for share in row.head_accuracy)
            yield f"{over}={row.value}: each head alone has {alone}% right, their mean {percent(row.accuracy)}%."
    yield "heads %, noisy %: noisy hold-out images that the heads alone (worst - best) and the model have right."
    yield (
        "M mult-adds: millions of multiply-adds of one forward pass. train MB: peak of the training process. "
        "cert. s/image: worker seconds."
    )
    yield from mark_lines(readings)
    yield from sorted({f"{row.summary.setting}, {row.summary.indices}" for row in rows})
    yield "Test images: choosing a value by this table would make its figures too good; choose on a hold-out."
    yield ACR_CAVEAT


def _range(shares: Sequence[float]) -> str:
    return f"{percent(min(shares))} - {percent(max(shares))}" if shares else "–"
