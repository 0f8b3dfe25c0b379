"""An early exit of another package: one file, from its settings to the audit of its votes."""

import json

import pytest

from extension.installing import PACKAGE, VERSION, commands, install, python

GROUP = "smoothcert.ensembles.exits"
EXIT = '''"""The first member answers alone where its best logit leads by a margin."""

from dataclasses import dataclass

import torch

from smoothcert.ensembles import Ask, EarlyExit, EarlyExitEnsemble, VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import padded


@dataclass(frozen=True)
class SureFirst(EarlyExit):
    """Let the first member answer alone where it is sure.

    Args:
        margin: by which its best logit must lead.
    """

    margin: float = 1.0

    def __post_init__(self) -> None:
        if not self.margin >= 0:
            raise InvalidArgumentError(f"margin must be at least 0, got {self.margin!r}")

    def over(self, ensemble: VotingEnsemble) -> EarlyExitEnsemble:
        return SureFirstEnsemble(ensemble, self)


class SureFirstEnsemble(EarlyExitEnsemble):
    """A voting ensemble whose first member answers alone where it is sure."""

    early_exit: SureFirst

    def vote(self, batch: torch.Tensor, ask: Ask) -> tuple[torch.Tensor, torch.Tensor]:
        logits, passes = ask(self.members[0], batch)
        rows = (~self._sure(logits)).nonzero().squeeze(1)
        if len(rows) == 0:
            return logits, passes
        answers = [ask(member, padded(batch[rows])) for member in list(self.members)[1:]]
        every = torch.stack([logits[rows], *(answer[: len(rows)] for answer, _ in answers)], dim=1)
        for _, cost in answers:
            passes = passes.index_put((rows,), cost[: len(rows)], accumulate=True)
        return logits.index_put((rows,), self.ensemble.combine(every)), passes

    def members_asked(self, member_logits: torch.Tensor) -> torch.Tensor:
        first = torch.arange(member_logits.shape[1]) == 0
        return first | ~self._sure(member_logits[:, 0]).unsqueeze(1)

    def combine(self, member_logits: torch.Tensor) -> torch.Tensor:
        first = member_logits[:, 0]
        return torch.where(self._sure(first).unsqueeze(1), first, self.ensemble.combine(member_logits))

    def _sure(self, logits: torch.Tensor) -> torch.Tensor:
        best = logits.topk(2, dim=1).values
        return best[:, 0] - best[:, 1] > self.early_exit.margin
'''
SHOW = """
import json, sys
from smoothcert.store import Run
run = Run.open(sys.argv[1])
print(json.dumps([run.manifest["ensemble"], sum(run.column("evaluations")), sum(run.column("samples"))]))
"""


@pytest.mark.slow
def test_an_exit_from_outside_is_listed_certified_resumed_and_audited(tmp_path, digit_models):
    site, model, run = tmp_path / "site", tmp_path / "model", tmp_path / "run"
    install(site, GROUP, "sure_first.py", EXIT)
    certify = ("certify", model, "--dataset", "digits", "--n", 200, "--seed", 1, "--workers", 2, "--out", run)
    told = ("--sure-first", "--sure-first-margin", 0.01)
    help_text, wrong, *ended = commands(
        site,
        ("ensemble", "--help"),
        ("ensemble", *digit_models, "--sure-first", "--sure-first-margin", -1, "--out", tmp_path / "no"),
        ("ensemble", *digit_models, *told, "--out", model),
        ("stopped", *certify, "--first", 4),
        (*certify, "--first", 4, "--resume"),
        ("analyze", run),
        ("audit", run),
    )
    assert "--sure-first-margin" in help_text[1]
    assert "best logit must lead; 1.0 by default" in " ".join(help_text[1].replace("│", " ").split())
    assert wrong[0] == 2
    assert "--sure-first-margin must be at least 0, got -1.0" in wrong[2]
    assert [part[0] for part in ended] == [0, 130, 0, 0, 0], ended
    assert "early exit sure-first (margin 0.01)" in ended[0][1]
    card = json.loads((model / "ensemble.json").read_text())
    assert card["early_exit"] == {"kind": "sure-first", "margin": 0.01}
    record, evaluations, samples = json.loads(python(site, SHOW, str(run)))
    assert record["kind"] == "SureFirstEnsemble"
    assert record["early_exit"] == {"kind": "sure-first", "margin": 0.01}
    assert record["packages"] == {PACKAGE: VERSION}
    assert samples < evaluations < 3 * samples
    (alone,) = commands(tmp_path, ("certify", model, "--first", 1, "--out", tmp_path / "other"))
    assert alone[0] == 2
    assert "unknown early exit 'sure-first'; known: adaptive, consensus" in alone[2]
