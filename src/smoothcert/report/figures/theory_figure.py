"""Theory against observation: certified accuracy by the exact law of CERTIFY's radius, and as another run found it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.certificates import PROCEDURES, FixedSample
from smoothcert.noise import noise_from
from smoothcert.report.figures.accuracy_curve import accuracy_steps
from smoothcert.report.figures.style import add_legend, looks, new_figure, short, style
from smoothcert.report.page.promises import radius_axis
from smoothcert.report.summary import Summary
from smoothcert.rounding import floor_digits
from smoothcert.store import Run
from smoothcert.theory import ExpectedRun, expected_run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_STEPS = 160  # radii of a predicted curve

Pair = tuple[Summary, Summary]
"""A run whose votes tell the probabilities, and a run of CERTIFY that they predict."""


def predicting_pairs(summaries: Sequence[Summary]) -> list[Pair]:
    """Return, for each run of CERTIFY, the run with most votes of the same model, noise and images under another seed.

    One with as many votes for every image at least, that did not stop early. Not a run with itself: its own votes have
    made its radii, and would agree with any law.
    """
    pairs = []
    for told in summaries:
        others = [one for one in summaries if _is_certify(told) and _tells(one, told)]
        if others:
            pairs.append((max(others, key=_votes), told))
    return pairs


def predicted(pair: Pair, radii: NDArray[np.float64]) -> ExpectedRun:
    """Return what the second run of a pair is expected to report, by the label's share of votes in the first.

    Args:
        pair: what `predicting_pairs` returned.
        radii: of certified accuracy, in pixel units.
    """
    source, told = pair
    assert source.run is not None
    manifest = told.manifest
    return expected_run(
        _label_shares(source.run),
        members=1,
        votes=manifest["procedure"]["n"],
        radii=radii.tolist(),
        alpha=manifest["alpha"],
        noise=noise_from(dict(manifest["noise"])).for_shape(tuple(manifest["input_shape"])),
    )


@style()
def theory_figure(pairs: Sequence[Pair], *, norm: str = "l2") -> Figure:
    """Draw certified accuracy (%) over radius as observed, and dotted as predicted from the votes of another run.

    Not exact: the shares of a finite run stand for probabilities, so a prediction from few votes spreads, and images
    whose votes all agreed are predicted a little too high.

    Args:
        pairs: what `predicting_pairs` returned.
        norm: the norm of the radii, as in manifests.
    """
    figure, axes = new_figure(8.6, 3.9, [one for pair in pairs for one in pair])
    largest = max(told.largest_radius for _, told in pairs) or 1.0
    for pair, look, _ in looks(list(pairs)):
        source, told = pair
        radii, shares = accuracy_steps(told.results)
        line: dict[str, Any] = {**look, "linestyle": "-", "linewidth": 1.6}
        name = f"{short(told.name)}: observed, ACR {floor_digits(told.acr, 4)}"
        axes.plot(radii, 100 * shares, drawstyle="steps-pre", label=name, **line)
        grid = np.linspace(0, told.reach.largest or 0.0, _STEPS)  # beyond it nothing can be proven
        law = predicted(pair, grid)
        name = f"predicted by {short(source.name)}, {_votes(source):,.0f} votes: ACR {law.acr:.4f}"
        axes.plot(grid, 100 * law.certified_accuracy, label=name, **{**line, "linestyle": (0, (1.2, 1.2))})
    axes.set(
        xlim=(0, 1.03 * largest), ylim=(0, 102), xlabel=radius_axis(norm), ylabel="certified accuracy (%)"
    )
    add_legend(figure, axes)
    return figure


def _is_certify(one: Summary) -> bool:
    """Whether the law speaks of a run: CERTIFY on the class alone, radii in the noise's own norm."""
    procedure = one.manifest.get("procedure", {})
    name = procedure.get("name")
    known = name in PROCEDURES and PROCEDURES[name] is FixedSample and not procedure.get("runner_up")
    return bool(known and one.run is not None and "norm_of_noise" not in one.manifest)


def _tells(one: Summary, told: Summary) -> bool:
    """Whether one run's votes are fresh ones of the other's model, noise and images."""
    if one.run is None or not one.manifest or one.manifest["seed"] == told.manifest["seed"]:
        return False
    fields = ("model", "noise", "norm", "input_shape", "num_classes", "dataset")
    same = all(one.manifest[field] == told.manifest[field] for field in fields)
    fresh = same and np.array_equal(one.results.index, told.results.index)
    # Fewer votes of any image cannot tell what more would prove, and those of an image that stopped early lean.
    return (
        fresh and bool(np.all(np.asarray(one.samples) >= np.asarray(told.samples))) and not _stops_early(one)
    )


def _stops_early(one: Summary) -> bool:
    name = one.manifest["procedure"]["name"]
    return name not in PROCEDURES or PROCEDURES[name].stops_early


def _label_shares(run: Run) -> NDArray[np.float64]:
    """Return the label's share of the votes in the phase in which each image ended."""
    labels = run.results.label.tolist()
    return np.array(
        [
            counts.votes[label] / max(counts.drawn, 1) if label < len(counts.votes) else 0.0
            for counts, label in zip(run.final_counts, labels, strict=True)
        ]
    )


def _votes(one: Summary) -> float:
    return one.votes_per_image or 0.0
