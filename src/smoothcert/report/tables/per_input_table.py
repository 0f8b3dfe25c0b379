"""Per-input EsbRS as a table and as plain values, marked as no certificate wherever it appears."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from smoothcert.radii import named_radii, radius_grid, radius_key
from smoothcert.report.tables.accuracy_cells import percent
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.terminal import print_tables
from smoothcert.rounding import floor_digits
from smoothcert.theory import NO_CERTIFICATE, PerInputStudy

_STEPS = (0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_MOST_RADII = 6


def per_input_to_json(study: PerInputStudy) -> dict[str, Any]:
    """Return unrounded figures; no name in them is one of a certificate's, so that nothing reads them as such."""
    radii = _radii(study)
    shares = study.claimed_accuracy(radii).tolist()
    images = zip(study.indices, study.labels, study.claims, strict=True)
    return {
        "certificate": False,
        "warning": NO_CERTIFICATE,
        "what": "EsbRS with weights chosen at every image",
        **study.about,
        "images_claimed_about": len(study.claims),
        "claimed_acr": study.claimed_acr,
        "claimed_accuracy": dict(zip(map(radius_key, radii), shares, strict=True)),
        "claims": [
            {
                "idx": index,
                "label": label,
                "claimed_class": claim.predicted,
                "claimed_radius": claim.claimed_radius,
                "weights": list(claim.weights),
            }
            for index, label, claim in images
        ],
    }


def print_per_input(study: PerInputStudy) -> None:
    """Print one row, with what it is not above and below it."""
    radii = _radii(study)
    columns = ("", "images", "claimed ACR", *(f"r={radius:g}" for radius in radii))
    shares = [percent(share) for share in study.claimed_accuracy(radii)]
    row = ("weights per image", f"{len(study.claims):,}", floor_digits(study.claimed_acr, 3), *shares)
    table = make_table("NO CERTIFICATE: claims of EsbRS, share of images (%) at radius", columns, [row])
    about = study.about
    weights = np.array([claim.weights for claim in study.claims])
    told = ", ".join(
        f"{low:.2f} to {high:.2f}" for low, high in zip(weights.min(axis=0), weights.max(axis=0), strict=True)
    )
    lines = (
        f"{NO_CERTIFICATE}.",
        f"{about['dataset']['name']} ({about['dataset']['split']}), {about['n']:,} votes, alpha {about['alpha']:g}, "
        f"seed {about['seed']}; weights chosen for {about['weights_chosen_for']}, of the members {told}.",
        "For certificates: smoothcert ensemble --fit esbrs, then certify.",
    )
    print_tables([table], lines, width=160)


def _radii(study: PerInputStudy) -> NDArray[np.float64]:
    """Return 0 and steps of .25, or more, as far as any radius is claimed: beyond, 0.0 would say nothing."""
    largest = float(study.claimed_radii.max(initial=0.0))
    grids = [grid[grid <= largest] for grid in (radius_grid(largest, step) for step in _STEPS)]
    return named_radii(next((grid for grid in grids if len(grid) <= _MOST_RADII), grids[-1]))
