"""What an audit found, and the one line that says whether a run can be trusted."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from smoothcert.amounts import amount

_SHOWN = 5  # images whose findings are told one by one
_LONGEST = 400  # characters of a sentence: a forged value may have millions


class Trust(Enum):
    """Whether a run can be trusted; the value is the middle of the sentence that says so."""

    TRUSTED = "can be trusted"
    NOT_TRUSTED = "cannot be trusted"
    UNDECIDED = "is consistent in itself, but nobody has checked that its votes were cast"


@dataclass(frozen=True)
class Finding:
    """One reason not to trust a run.

    Args:
        kind: what is wrong: "manifest", "images", "label", "proof", "votes", "seal", "model", "data", "arithmetic",
            "cost", "file".
        text: what was found, in a sentence.
        image: index of the image, or None if it is about the whole run.
    """

    kind: str
    text: str
    image: int | None = None

    def __str__(self) -> str:
        return self.text if self.image is None else f"image {self.image}: {self.text}"


@dataclass
class AuditReport:
    """The result of an audit. Not a proof of innocence: only what was re-drawn has been compared.

    Args:
        name: what the run is called.
        images: certificates in the run.
        failed: images on which the model failed, and that have no certificate.
        share: "3/16" where the run is a share of a plan.
        findings: reasons not to trust it.
        notes: what the reader should know, and no reason by itself.
        redrawn: votes that were drawn again; None if none could be.
        chunks: chunks drawn again, of `all_chunks`.
        all_chunks: chunks that the run holds.
        unanswered: stored votes without a finite answer.
        arithmetic: re-drawn votes that differ by less than rounding can explain.
        seed: of the choice of chunks.
        without_formula: what has no second formula, each in words; they are among the notes too.
    """

    name: str
    images: int = 0
    failed: int = 0
    share: str | None = None
    findings: list[Finding] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    redrawn: int | None = None
    chunks: int = 0
    all_chunks: int = 0
    unanswered: int = 0
    arithmetic: int = 0
    seed: int = 0
    without_formula: list[str] = field(default_factory=list)

    def add_finding(self, kind: str, text: str, image: int | None = None) -> None:
        """Add a finding."""
        self.findings.append(Finding(kind, _shown(text), image))

    def note(self, text: str, *, first: bool = False) -> None:
        """Add what the reader should know; `first` where it is the reason why no vote was drawn again."""
        self.notes.insert(0 if first else len(self.notes), _shown(text))

    def replayed_only(self, text: str) -> None:
        """Add what was made again by its own code alone: the verdict's line says so."""
        self.note(text)
        self.without_formula.append(self.notes[-1])

    @property
    def trust(self) -> Trust:
        """The verdict."""
        if self.findings:
            return Trust.NOT_TRUSTED
        return Trust.UNDECIDED if self.redrawn is None else Trust.TRUSTED

    @property
    def unproven(self) -> tuple[str, ...]:
        """What the manifest says and no vote can prove: whoever can write the file can write it."""
        on_nan = () if self.unanswered else ("on_nan (no NaN came up)",)
        return ("versions", "engine", "class names", "times", *on_nan)

    @property
    def _ordered(self) -> list[Finding]:
        """The findings, broken seals last: they say that something was changed, the others say what."""
        return sorted(self.findings, key=lambda finding: finding.kind == "seal")

    @property
    def line(self) -> str:
        """The verdict in one line."""
        start = f"{self.name} {self.trust.value}"
        if self.findings:
            images = len({f.image for f in self.findings if f.image is not None})
            about = f", {images} of {amount(self.images, 'image')} concerned" if images else ""
            return f"{start}: {_count(len(self.findings), 'finding')}{about}; first: {self._ordered[0]}"
        if self.redrawn is None:
            reasons = [note for note in self.notes if note not in self.without_formula]
            return "; ".join([f"{start}: {[*reasons, 'nothing was re-drawn'][0]}", *self.without_formula])
        rounding = f", {self.arithmetic} of them up to rounding" if self.arithmetic else ""
        line = (
            f"{start}: the certificates of all {self.images:,} of the images that the run {self._lists} follow from "
            f"the stored votes, and {_count(self.redrawn, 're-drawn vote')} ({self.chunks:,} of {self.all_chunks:,} "
            f"chunks) are the stored ones{rounding}; votes cannot prove its {', '.join(self.unproven)}, nor that "
            "images and settings were chosen before them"
        )
        return "; ".join([line, *self.without_formula])

    @property
    def _lists(self) -> str:
        lists = "lists" if self.share is None else f"lists for shard {self.share}"
        return f"{lists}, but for {self.failed:,} on which the model failed," if self.failed else lists

    def lines(self) -> Iterator[str]:
        """Return the findings of the whole run, those of the first few images, and the notes."""
        yield from (f"- {finding}" for finding in self._ordered if finding.image is None)
        images = list(dict.fromkeys(f.image for f in self._ordered if f.image is not None))
        for finding in self._ordered:
            if finding.image in images[:_SHOWN]:
                yield f"- {finding}"
        if len(images) > _SHOWN:
            yield f"- and {_count(len(images) - _SHOWN, 'further image')} with findings (--json lists all)"
        yield from (f"note: {note}" for note in self.notes if note not in self.line)

    def to_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "run": self.name,
            "trust": self.trust.name.lower(),
            "line": self.line,
            "images": self.images,
            "failed_images": self.failed,
            "findings": [{"kind": f.kind, "image": f.image, "text": f.text} for f in self.findings],
            "notes": self.notes,
            "redrawn_votes": self.redrawn,
            "redrawn_chunks": self.chunks,
            "chunks": self.all_chunks,
            "arithmetic_differences": self.arithmetic,
            "unproven": list(self.unproven),
            "selection_seed": str(self.seed),
        }


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _shown(text: str) -> str:
    """Return a text in one line of ordinary length: values of a run may hold line breaks or move the cursor."""
    plain = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text[:_LONGEST])
    return plain if len(text) <= _LONGEST else f"{plain} .."
