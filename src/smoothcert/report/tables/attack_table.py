"""Certified accuracy from below and accuracy under attack from above, side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.amounts import amount
from smoothcert.errors import InvalidArgumentError
from smoothcert.radii import named_radii, radius_key
from smoothcert.report.summary import Summary
from smoothcert.report.tables.accuracy_cells import mark_lines, percent_up, share_cells
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.terminal import print_tables
from smoothcert.store import AttackResults

_EXPLAINED = (
    "The truth lies between: certified accuracy is proven (error alpha per image), accuracy under attack is what the "
    "attack left standing, and a stronger one may leave less."
)


def attack_radii(attack: AttackResults) -> NDArray[np.float64]:
    """Return the radii of an attack's table: the clean image, and those that were asked for."""
    return named_radii([0.0, *attack.settings["radii"]])


def attack_rows(attack: AttackResults) -> dict[str, list[str]]:
    """Return the table's rows in percent: lower bound rounded down, upper bound up, and the gap up.

    A radius that the run did not ask about, or could not prove, has a mark instead of 0.
    """
    radii = attack_radii(attack)
    upper = attack.accuracy(radii)
    rows = {"under attack, at most": [percent_up(value) for value in upper]}
    if attack.settings["certified_alpha"] is None:
        return rows
    cells = share_cells(attack.reach.read(attack, radii))
    gaps = zip(upper, _certified(attack, radii), cells, strict=True)
    return {
        "certified, at least": cells,
        **rows,
        "gap, at most": [mark if low is None else percent_up(high - low) for high, low, mark in gaps],
    }


def _certified(attack: AttackResults, radii: NDArray[np.float64]) -> list[float | None]:
    """Return certified accuracy at radii, None where the run can say nothing."""
    return attack.reach.read(attack, radii).told


def _notes(attack: AttackResults, radii: NDArray[np.float64]) -> dict[str, str]:
    notes = attack.reach.read(attack, radii).notes
    return {
        radius_key(radius): note.value for radius, note in zip(radii.tolist(), notes, strict=True) if note
    }


def attack_lines(attack: AttackResults) -> list[str]:
    """Return what the table does not show: how it was attacked, and what became of the certificates."""
    about = attack.settings
    parts = "; ".join(about["parts"])
    what = parts if len(about["parts"]) == 1 else f"{about['method']} ({parts})"
    lines = [
        f"{amount(len(attack), 'image')}; {what}, in l2 through the mean softmax over {about['m']} noises; broken "
        f"where PREDICT ({about['n']:,} votes, alpha {about['alpha']:g}) answers another class"
    ]
    if about["certified_alpha"] is None:
        return lines
    broken = attack.broken_certificates
    text = f"{len(broken)} of {attack.certificates:,} certified images broken inside their radius"
    if attack.breaks_too_many:
        text = f"WARNING: {text}, more than the error probabilities allow: do not trust these certificates"
    elif broken:
        text += f" (images {', '.join(str(image.index) for image in broken[:5])}), within what alpha allows"
    radii = attack_radii(attack)
    marks = mark_lines([attack.reach.read(attack, radii)])
    return [*lines, text, *marks, _EXPLAINED]


def print_attack(attack: AttackResults) -> None:
    """Print the table and what belongs to it."""
    columns = ("", *(f"r={radius:g}" for radius in attack_radii(attack)))
    rows = ((name, *cells) for name, cells in attack_rows(attack).items())
    print_tables([make_table("Accuracy (%) at radius", columns, rows)], attack_lines(attack), width=160)


def attack_to_json(attack: AttackResults) -> dict[str, Any]:
    """Return unrounded figures for `--json`; None where the run can say nothing about a radius."""
    radii = attack_radii(attack)
    certified = attack.settings["certified_alpha"] is not None
    lower = _certified(attack, radii) if certified else None
    upper = attack.accuracy(radii).tolist()
    return {
        "images": len(attack),
        "radii": radii.tolist(),
        "accuracy_under_attack": upper,
        "certified_accuracy": lower,
        "certified_accuracy_notes": _notes(attack, radii) if certified else {},
        "gap": None
        if lower is None
        else [None if low is None else high - low for high, low in zip(upper, lower, strict=True)],
        "certificates": attack.certificates,
        "broken_certificates": [
            {
                "idx": image.index,
                "radius": (image.certified or (0, 0.0))[1],
                "distance": image.certificate_broken_at,
            }
            for image in attack.broken_certificates
        ],
        "breaks_more_than_alpha_allows": attack.breaks_too_many,
        "settings": dict(attack.settings),
    }


def check_same_images(attack: AttackResults, summary: Summary) -> None:
    """Refuse to draw an attack beside a run about other images, another model or noise, or radii that are not l2."""
    for field in ("model", "noise", "dataset") if summary.manifest else ():
        if attack.settings[field] != summary.manifest[field]:
            raise InvalidArgumentError(
                f"the attack is on another {field} than {summary.name}; give the attack on this run (attack --run)"
            )
    if summary.reach.norm not in (None, "l2"):
        raise InvalidArgumentError(
            f"attacks measure radii in l2, those of {summary.name} are in {summary.reach.norm}; leave the attack out"
        )
    if not np.array_equal([image.index for image in attack.images], np.sort(summary.results.index)):
        raise InvalidArgumentError(
            f"the attack is about other images than {summary.name}; attack all images of the run (--run, and no choice "
            "of images)"
        )
