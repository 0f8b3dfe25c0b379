"""A voting rule of another package: one file, used from the command line to the audit."""

import json

import pytest

from extension.installing import PACKAGE, VERSION, commands, install, python

GROUP = "smoothcert.ensembles.rules"
RULE = '''"""The middle of the members' logits."""

from typing import ClassVar

import torch

from smoothcert.ensembles import VotingRule


class MiddleLogit(VotingRule):
    """The median of the members' logits, class by class; of two in the middle the lower one."""

    refuses_weights: ClassVar[str | None] = "every member counts as one"

    @staticmethod
    def combine(member_logits: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
        """Return the middle logits."""
        return member_logits.sort(dim=1).values[:, (member_logits.shape[1] - 1) // 2]
'''
SHOW = """
import json, sys
import smoothcert as sc
from smoothcert.store import Run
run, (model, _) = Run.open(sys.argv[1]), sc.load_model(sys.argv[2])
image = sc.load_dataset("digits").image(0).unsqueeze(0).repeat(16, 1, 1, 1)
middle = model.member_logits(image).median(dim=1).values
print(json.dumps([run.manifest["ensemble"], run.manifest["model"], bool((model(image) == middle).all())]))
"""


@pytest.mark.slow
def test_a_rule_from_outside_is_listed_certified_resumed_and_audited(tmp_path, digit_models):
    site, model, run = tmp_path / "site", tmp_path / "model", tmp_path / "run"
    install(site, GROUP, "middle_logit.py", RULE)
    certify = ("certify", model, "--dataset", "digits", "--n", 200, "--seed", 1, "--workers", 2, "--out", run)
    help_text, weighted, made, first, more, audited = commands(
        site,
        ("ensemble", "--help"),
        ("ensemble", *digit_models, "--rule", "middle-logit", "--weights", "1,2,3", "--out", tmp_path / "no"),
        ("ensemble", *digit_models, "--rule", "middle-logit", "--out", model),
        ("stopped", *certify, "--first", 4),
        (*certify, "--first", 4, "--resume"),
        ("audit", run),
    )
    assert "middle-logit" in help_text[1]
    assert weighted[0] == 2
    assert "takes no weights, because every member counts as one" in weighted[2]
    assert [part[0] for part in (made, first, more, audited)] == [0, 130, 0, 0], (made, first, more, audited)
    assert "rule middle-logit" in made[1]
    record, identity, is_median = json.loads(python(site, SHOW, str(run), str(model)))
    assert record["rule"] == "middle-logit"
    assert record["packages"] == {PACKAGE: VERSION}
    assert identity.endswith("/unsettled")  # its code is not in an installed package's folder
    assert is_median
    (alone,) = commands(tmp_path, ("certify", model, "--first", 1, "--out", tmp_path / "other"))
    assert alone[0] == 2
    assert "unknown voting rule 'middle-logit'; known: hard, max-margin, soft, softmax" in alone[2]
