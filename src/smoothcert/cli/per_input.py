"""`smoothcert ensemble --per-input`: a published figure, which is no certificate."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from smoothcert.atomic import check_target, write_atomically
from smoothcert.cli.options import Subset
from smoothcert.data import load_dataset
from smoothcert.ensembles import Perturbation
from smoothcert.errors import StoreError
from smoothcert.progress import progress
from smoothcert.report import say

FILE_NAME = "per-input.NO-CERTIFICATE.json"


def run_per_input(
    members: Sequence[Path],
    out: Path,
    *,
    dataset: str,
    data_dir: Path | None,
    subset: Subset,
    n: int | None,
    alpha: float | None,
    draws: int | None,
    by_label: bool,
    seed: int | None,
) -> None:
    """Print what weights per image claim about test images, and write the claims; None stands for the default."""
    from smoothcert.report import per_input_to_json, print_per_input
    from smoothcert.theory import study_per_input

    file = out / FILE_NAME
    if check_target(file) is not None:
        raise StoreError(f"{file} is there already; choose another folder or remove it")
    images = load_dataset(dataset, split="test", data_dir=data_dir)
    picked = subset.pick(images)
    with progress("claiming (no certificates)", len(picked), shown=True) as show:
        study = study_per_input(
            members,
            images,
            indices=picked,
            n=100_000 if n is None else n,
            alpha=0.001 if alpha is None else alpha,
            seed=seed,
            how=None if draws is None else Perturbation(copies=draws),
            by_label=by_label,
            on_progress=lambda done, _: show(done, "images"),
        )
    write_atomically(file, json.dumps(per_input_to_json(study), indent=1) + "\n")
    print_per_input(study)
    say(f"Claims: {file}")
