"""Tables of a variance study for a terminal, and all its numbers as plain values."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from smoothcert.certificates import ACR_CAVEAT, Staged
from smoothcert.noise import NoiseLaw
from smoothcert.report.tables.accuracy_cells import percent
from smoothcert.report.tables.blocks import make_table
from smoothcert.report.tables.terminal import print_tables
from smoothcert.rounding import floor_digits
from smoothcert.theory import PartStudy, VarianceModel, VarianceStudy, first_stage, mean_radii, variance_ratio

if TYPE_CHECKING:
    from smoothcert.report.tables.blocks import Table

CLEAN_PART_NAMES = {"mean": "mean of f(x+e)", "clean": "f(x)"}
RADIUS_P = (0.6, 0.7, 0.8, 0.9, 0.97, 0.99, 0.999, 0.9999, 1.0)
RADIUS_N = np.unique(np.geomspace(100, 1_000_000, 33).round().astype(np.int64))
STAGE_P = np.linspace(0.4, 1, 601)
LEVEL = 0.001  # alpha, and beta, of the field
_MOST_CLASSES = 100  # larger matrices are left out of the JSON


def variance_to_json(study: VarianceStudy) -> dict[str, Any]:
    """Return all numbers of a study, unrounded; covariance matrices of over 100 classes are null."""
    images, noises, members, classes = study.shape
    return {
        **study.about,
        "noise": study.noise.describe(),
        "images": images,
        "noises": noises,
        "members": members,
        "classes": classes,
        "k": list(study.sizes),
        "clean_part": {name: _part_json(study, part) for name, part in study.parts.items()},
        "ensemble_success": study.ensemble_success,
        "ensemble_accuracy": study.ensemble_accuracy,
        "equal_inference": [
            {
                "members": run.members,
                "votes": run.votes,
                "acr": run.acr,
                "certified_accuracy": {
                    f"{radius:.2f}": float(share)
                    for radius, share in zip(study.radii, run.certified_accuracy, strict=True)
                },
            }
            for run in study.equal_inference
        ],
        "mean_radius": _radius_json(study.noise),
        "first_stage": _stage_json(study.noise),
    }


def _part_json(study: VarianceStudy, part: PartStudy) -> dict[str, Any]:
    model, ratios, success = part.model, part.ratios, part.success
    return {
        "zeta": model.both.zeta,
        "zeta_c": model.zeta_c,
        "zeta_c_images": model.zeta_c_images,
        "zeta_p": model.zeta_p,
        **_covariances_json(model),
        "variance_ratio": {
            "noise_observed": ratios.noise.tolist(),
            "noise_observed_low": ratios.noise_low.tolist(),
            "noise_observed_high": ratios.noise_high.tolist(),
            "noise_predicted": variance_ratio(study.sizes, model.zeta_p).tolist(),
            "clean_observed": ratios.clean.tolist(),
            "clean_predicted": variance_ratio(study.sizes, model.zeta_c).tolist(),
        },
        "success": {
            "observed": success.observed.mean(axis=0).tolist(),
            "gaussian": success.gaussian.mean(axis=0).tolist(),
            "chebyshev": success.chebyshev.mean(axis=0).tolist(),
        },
    }


def _covariances_json(model: VarianceModel) -> dict[str, Any]:
    """Return what the zetas are medians of, and the matrices: within a member (sigma), between two (inter), cross."""
    parts = {"c": model.clean, "c_images": model.images, "p": model.noise}
    small = len(model.sigma_p) <= _MOST_CLASSES
    matrices = {"cov_c_p": model.clean_noise}
    for name, part in parts.items():
        matrices |= {f"sigma_{name}": part.intra, f"inter_{name}": part.inter}
    by_class = {
        f"zeta_{name}_by_class": [None if np.isnan(ratio) else float(ratio) for ratio in part.zeta_by_class]
        for name, part in parts.items()
    }
    return by_class | {name: matrix.tolist() if small else None for name, matrix in matrices.items()}


def _radius_json(noise: NoiseLaw) -> dict[str, Any]:
    """Return the numbers of the figure of mean radii: one row for each p."""
    grid = mean_radii(RADIUS_P, RADIUS_N, alpha=LEVEL, noise=noise)
    return {"alpha": LEVEL, "p": list(RADIUS_P), "n": RADIUS_N.tolist(), "radius": grid.tolist()}


def _stage_json(noise: NoiseLaw) -> dict[str, Any]:
    """Return the numbers of the bold curves in the figure of first stages; the radius is one sigma."""
    procedure = Staged(radius=noise.std, beta=LEVEL)
    stage = first_stage(STAGE_P, procedure, alpha=LEVEL, noise=noise)
    return {
        "alpha": LEVEL,
        **procedure.describe(),
        "p": STAGE_P.tolist(),
        "certify": stage.certify.tolist(),
        "abstain": stage.abstain.tolist(),
        "continue": stage.go_on.tolist(),
    }


def noise_text(noise: NoiseLaw) -> str:
    """Return a noise law in a few words."""
    return f"{noise.law_name} noise, sigma {noise.std:g}"


def print_variance(study: VarianceStudy) -> None:
    """Print zetas, variance and success over k, and what they are worth at equal inference."""
    tables = (_zeta_table(study), _size_table(study), _inference_table(study))
    print_tables(tables, _small_print(study), width=110)


def _zeta_table(study: VarianceStudy) -> Table:
    rows = []
    for name, part in study.parts.items():
        model = part.model
        deviations = [math.sqrt(float(np.diag(sigma).mean())) for sigma in (model.sigma_c, model.sigma_p)]
        numbers = (model.both.zeta, model.zeta_c, model.zeta_c_images, model.zeta_p, *deviations)
        rows.append((CLEAN_PART_NAMES[name], *(f"{number:.3f}" for number in numbers)))
    title = "Covariance between members over that within one (median over classes)"
    columns = ("clean part y_c", "zeta", "zeta_c", "zeta_c, images", "zeta_p", "std of y_c", "std of y_p")
    return make_table(title, columns, rows)


def _size_table(study: VarianceStudy) -> Table:
    part = study.parts["mean"]
    noise = variance_ratio(study.sizes, part.model.zeta_p)
    clean = variance_ratio(study.sizes, part.model.zeta_c)
    rows = []
    for place, k in enumerate(study.sizes):
        ratios = (part.ratios.noise[place], noise[place], part.ratios.clean[place], clean[place])
        chances = (part.success.observed[:, place].mean(), part.success.gaussian[:, place].mean())
        bound = floor_digits(float(part.success.chebyshev[:, place].mean()), 3)
        rows.append(
            (str(k), *(f"{abs(ratio):.3f}" for ratio in ratios), *(f"{p:.3f}" for p in chances), bound)
        )
    title = "Ensembles of k: variance over that of one member, and chance that the leading class wins"
    observed = ("noise obs.", "pred.", "clean obs.", "pred.", "success obs.")
    return make_table(title, ("k", *observed, "Gaussian", "Chebyshev >="), rows)


def _inference_table(study: VarianceStudy) -> Table:
    rows = (
        (
            f"{run.members} x {run.votes:,}",
            f"{run.members * run.votes:,}",
            floor_digits(run.acr, 3),
            *(percent(float(share)) for share in run.certified_accuracy),
        )
        for run in study.equal_inference
    )
    title = (
        "What CERTIFY would report if the Gaussian model were true, no forecast: ACR, certified accuracy (%)"
    )
    radii = (f"r={radius:g}" for radius in study.radii)
    return make_table(title, ("members x votes", "answers", "ACR", *radii), rows)


def _small_print(study: VarianceStudy) -> Iterator[str]:
    images, noises, members, _ = study.shape
    source = " ".join(str(study.about[name]) for name in ("dataset", "split") if name in study.about)
    yield (
        f"{study.about.get('path', 'Given logits')}: {members} members, {noises} noisy copies of each of {images} "
        f"images {f'({source}) ' if source else ''}under {noise_text(study.noise)}"
        + (f"; seed {study.about['seed']}." if "seed" in study.about else ".")
    )
    yield (
        f"The ensemble, by its own rule, gave the leading class to {study.ensemble_success:.1%} of the noisy copies "
        f"and the label to {study.ensemble_accuracy:.1%}. The k table is about soft voting with equal weights, k "
        "members drawn from these."
    )
    yield (
        "answers: of members. A member that is an ensemble itself costs several networks each, and the heads of one "
        "network share its trunk, so equal answers are equal cost for separate networks only. Real gains are smaller "
        "where margins have heavier tails than the model's: certify --with-members measures them."
    )
    yield (
        f"zeta_c is -1/{members - 1} for any {members} members, because their clean outputs vary about their own mean; "
        "for members yet to be trained it is 0. Over images it says how alike the members are. zeta is of y_c + y_p. "
        "--json has all matrices, Cov(y_c, y_p) too."
    )
    yield f"Nothing here is a certificate: probabilities are estimated, not bounded. {ACR_CAVEAT}"
