"""`smoothcert ensemble --per-input`: a published figure, which is no certificate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from smoothcert import data, ensembles, report
from smoothcert.atomic import check_target, write_atomically
from smoothcert.cli.options import Claims, Subset
from smoothcert.errors import StoreError
from smoothcert.progress import progress

FILE_NAME = "per-input.NO-CERTIFICATE.json"


def run_per_input(
    members: Sequence[Path],
    out: Path,
    *,
    claims: Claims,
    subset: Subset,
    dataset: str,
    data_dir: Path | None,
    draws: int | None,
    seed: int | None,
) -> None:
    """Print what weights per image claim about test images, and write the claims; None stands for the default."""
    from smoothcert.report import per_input_to_json, print_per_input
    from smoothcert.theory import study_per_input

    file = out / FILE_NAME
    if check_target(file) is not None:
        raise StoreError(f"{file} is there already; choose another folder or remove it")
    images = data.load_dataset(dataset, split="test", data_dir=data_dir)
    picked = subset.pick(images)
    with progress("claiming (no certificates)", len(picked), shown=True) as show:
        study = study_per_input(
            members,
            images,
            indices=picked,
            n=100_000 if claims.n is None else claims.n,
            alpha=0.001 if claims.alpha is None else claims.alpha,
            seed=seed,
            how=None if draws is None else ensembles.Perturbation(copies=draws),
            by_label=claims.by_label,
            on_progress=lambda done, _: show(done, "images"),
        )
    write_atomically(file, json.dumps(per_input_to_json(study), indent=1) + "\n")
    print_per_input(study)
    report.say(f"Claims: {file}")
