"""One kind of tampering and what an audit must say to it."""

import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass

import torch

import smoothcert as sc
from smoothcert.workflows import Trust, audit
from workflows.forging import seal_again, write

NOISE = sc.Gaussian(0.25)
LISTED = (0, 2, 5, 9)
SMALL = {
    "fixed": sc.FixedSample(n0=64, n=300),
    "staged": sc.Staged(radius=0.05, stages=(100, 200, 300), n0=64),
    "sequential": sc.Sequential(radii=(0, 0.1, 0.2), max_samples=320),
}
SEALS = "was changed after it was written"


def doubtful(batch):
    """Answer by where an image is bright: sure of some images, in doubt about others, and cheap."""
    rows = batch.flatten(1)
    scores = [rows[:, :20].mean(dim=1), rows[:, 20:40].mean(dim=1) - 0.02, rows[:, 40:].mean(dim=1) - 0.05]
    return 5 * torch.stack([*scores, torch.full_like(scores[0], -1.0)], dim=1)


SMOOTHED = sc.SmoothedClassifier(doubtful, NOISE, 4)


@dataclass(frozen=True)
class Case:
    """A change, and words of a finding (or, where it cannot be seen, of the line and notes) that it must bring.

    Args:
        change: statements, or what is done to the folder.
        words: what an audit that draws all votes again must say, a regular expression.
        run: which of `SMALL`.
        unseen: "" if the audit of fraction 0 finds it too; "undrawn" if only votes drawn again tell; "never" if it
            cannot be seen from inside; "undrawable" if votes cannot be drawn again with it, so that nothing is decided.
        raw: it is not tried with every seal made to fit.
    """

    change: tuple[object, ...] | Callable[[object], None]
    words: str
    run: str = "fixed"
    unseen: str = ""
    raw: bool = False


def case(*statements, words, **options):
    """A case of statements."""
    return Case(statements, words, **options)


def done_to(change, words, **options):
    """A case of something done to the folder."""
    return Case(change, words, **options)


def judge(one, runs, digits, folder):
    """Make the change and hold the audits against what they must say."""
    reports = {}
    for sealed in (False, True) if not one.raw else (False,):
        shutil.copytree(runs / one.run, folder / str(sealed))
        if callable(one.change):
            one.change(folder / str(sealed))
        else:
            write(folder / str(sealed), *one.change)
        if sealed:
            seal_again(folder / str(sealed))
        for fraction in (0, 1):
            how = {"model": SMOOTHED, "dataset": digits, "fraction": fraction, "workers": 1, "seed": 3}
            reports[sealed, fraction] = audit(folder / str(sealed), **how)
    for (sealed, fraction), report in reports.items():
        assert report.line.isprintable()
        said = [report.line, *report.lines()]
        assert all(line.isprintable() for line in said)
        if one.unseen and (sealed or one.raw):
            told = one.unseen == "undrawn" and fraction == 1
            fine = Trust.UNDECIDED if fraction == 0 or one.unseen == "undrawable" else Trust.TRUSTED
            assert report.trust is (Trust.NOT_TRUSTED if told else fine), said
        else:
            assert report.trust is Trust.NOT_TRUSTED, said
        if one.unseen and not sealed and not one.raw:
            assert any(SEALS in line for line in said), said
        elif fraction == 1 or not one.unseen:
            found = [str(finding) for finding in report.findings] or said
            assert any(re.search(one.words, text) for text in found), said
