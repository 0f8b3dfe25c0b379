"""Rounding explains a few votes between two logits that are nearly equal, and nothing else."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.workflows import Trust, audit
from smoothcert.workflows.auditing.redraw import units
from store.content import query
from workflows.forging import (
    INDICES,
    PROCEDURES,
    better_certificate,
    certified,
    moved_votes,
    seal_again,
    write,
)

THREE = (0, 2, 5)
NOISE = sc.Gaussian(0.25)


def bright(batch):
    """Answer by the brightness of one half; logits of the order of 1."""
    above = 4 * (batch.flatten(1)[:, :32].mean(dim=1, keepdim=True) - 0.28)
    return torch.cat([-above, above, above - 0.3, *[above - 1] * 6], dim=1)


def masked(batch):
    """Answer like `bright`, with a class that is ruled out as language models and detectors do it."""
    return torch.cat([bright(batch), torch.full((len(batch), 1), -1e9)], dim=1)


def ruled_out_by_much(batch):
    return torch.cat([bright(batch), torch.full((len(batch), 1), -3e38)], dim=1)


MODELS = {"plain": (bright, 9), "masked": (masked, 10), "masked by much": (ruled_out_by_much, 10)}


@pytest.mark.parametrize("name", MODELS)
def test_a_class_that_is_ruled_out_makes_no_room_for_forged_votes(name, digits, tmp_path):
    """Ten votes in each of three images, few enough to pass for rounding if their gaps did."""
    model, classes = MODELS[name]
    smoothed, run = sc.SmoothedClassifier(model, NOISE, classes), tmp_path / "run"
    procedure = sc.FixedSample(n0=100, n=20_000)
    sc.certify(smoothed, digits, procedure=procedure, seed=7, indices=THREE, out=run, workers=1)
    how = {"model": smoothed, "dataset": digits, "fraction": 1.0, "workers": 1}
    honest = audit(run, **how)
    assert (honest.trust, honest.arithmetic) == (Trust.TRUSTED, 0), honest.line
    before = [row for (row,) in query(run, "SELECT radius FROM certificates")]
    write(run, *(step for index in THREE for step in better_certificate(run, index, NOISE, 10)))
    seal_again(run)
    after = [row for (row,) in query(run, "SELECT radius FROM certificates")]
    assert all(new > old > 0 for new, old in zip(after, before, strict=True))
    report = audit(run, **how)
    assert report.trust is Trust.NOT_TRUSTED, report.line
    assert [(f.kind, f.image) for f in report.findings] == [("votes", index) for index in THREE]


def test_rounding_explains_few_votes_of_one_image_however_small_its_logits(classifier, digits, tmp_path):
    """Scaled down, a classifier is the same; a gap that is small in its own units only is no rounding."""

    class Scaled(torch.nn.Module):
        def __init__(self, scale, offset):
            super().__init__()
            self.model, self.scale, self.offset = classifier.model, scale, offset

        def forward(self, batch):
            return self.offset + self.scale * self.model(batch)

    for scale, offset, kind in ((1e-6, 0.0, "votes"), (1e-6, 1.0, "arithmetic")):
        smoothed = sc.SmoothedClassifier(Scaled(scale, offset).eval(), classifier.noise, 10)
        run = tmp_path / f"run-{offset}"
        sc.certify(
            smoothed, digits, procedure=PROCEDURES["fixed"], indices=INDICES, seed=7, out=run, workers=1
        )
        assert audit(run, model=smoothed, fraction=1.0, workers=1).trust is Trust.TRUSTED
        index, _, predicted = certified(run)
        moved, statements = moved_votes(run, index, "select", 3, chosen=predicted)
        assert moved == 3
        write(run, *statements)
        seal_again(run)
        report = audit(run, model=smoothed, fraction=1.0, workers=1)
        assert (kind, index) in [(f.kind, f.image) for f in report.findings], report.line


def test_votes_that_differ_by_rounding_are_arithmetic(forge, runs, classifier, monkeypatch):
    """The gap decides: with an enormous tolerance the same forgery passes for rounding, until it is too much."""
    index, _, predicted = certified(runs / "fixed")
    moved, statements = moved_votes(runs / "fixed", index, "select", 1, chosen=predicted)
    assert moved == 1
    assert forge("fixed", *statements, seal=True, fraction=1.0).arithmetic == 0
    monkeypatch.setattr("smoothcert.workflows.auditing.redraw.ROUNDING_GAP", 1e9)
    report = forge("fixed", *statements, seal=True, fraction=1.0)
    assert (report.arithmetic, report.trust) == (1, Trust.TRUSTED), report.line
    assert "1 of them up to rounding" in report.line
    _, statements = moved_votes(runs / "fixed", index, "estimate", 30, chosen=predicted)
    report = forge("fixed", statements[0], seal=True, fraction=1.0)
    assert "arithmetic" in [f.kind for f in report.findings]


@pytest.mark.parametrize(
    "best, stored, unit",
    [(1e-5, 0.0, 1e-5), (0.0, 0.0, 1), (3.0, -1.0, 1), (1.0, -20.0, 1), (1e6, 0.0, 4e4), (1.0, -1e9, 4e7)],
)
def test_gaps_are_judged_in_units_that_rounding_has(best, stored, unit):
    """Small logits by the largest of them, ordinary ones by 1, large ones by what float32 resolves."""
    assert units(np.array([best]), np.array([stored])) == pytest.approx([unit])


def test_a_close_call_about_zero_is_judged_like_its_neighbours():
    """Two logits of opposite sign are nearly zero exactly where they are nearly equal; they round like the others."""
    best = np.array([0.4, 1e-7, 0.7])
    assert units(best, -best).tolist() == [0.7, 0.7, 0.7]
