"""Runs to audit: one per procedure, and copies of them to be changed."""

import dataclasses
import shutil

import pytest

import smoothcert as sc
from smoothcert.workflows import audit
from workflows.forging import INDICES, PROCEDURES, seal_again, write
from workflows.tampering import LISTED, SMALL, SMOOTHED


@pytest.fixture(scope="session")
def runs(classifier, digits, tmp_path_factory):
    """One run per procedure, never changed by a test."""
    base = tmp_path_factory.mktemp("runs")
    for name, procedure in PROCEDURES.items():
        sc.certify(
            classifier, digits, procedure=procedure, seed=7, indices=INDICES, out=base / name, workers=1
        )
    return base


@pytest.fixture
def forge(runs, classifier, tmp_path):
    """Copy a run, let somebody write into it, and return what the audit says; `seal` forges the seals too."""

    def change(name, *statements, seal=False, **options):
        folder = shutil.copytree(runs / name, tmp_path / "forged", dirs_exist_ok=True)
        write(folder, *statements)
        if seal:
            seal_again(folder)
        return audit(folder, **{"model": classifier, "workers": 1, "seed": 3, **options})

    return change


@pytest.fixture(scope="session")
def few_labels(digits):
    """The digits with labels that a classifier of four classes has."""
    return dataclasses.replace(digits, labels=digits.labels % 4)


@pytest.fixture(scope="session")
def small_runs(few_labels, tmp_path_factory):
    """Small runs that take no time, never changed by a test."""
    base = tmp_path_factory.mktemp("small")
    for name, procedure in SMALL.items():
        out = base / name
        sc.certify(SMOOTHED, few_labels, procedure=procedure, seed=7, indices=LISTED, out=out, workers=1)
    return base
