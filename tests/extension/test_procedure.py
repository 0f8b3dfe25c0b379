"""A procedure of another package: one file, from the command line to the audit."""

import json
import math

import pytest

from extension.installing import PACKAGE, commands, install, python

GROUP = "smoothcert.certificates.procedures"
PROCEDURE = '''"""A fixed sample, bounded by Hoeffding's inequality."""

from dataclasses import dataclass
from math import log, sqrt

from smoothcert.certificates import Outcome, Plan, Procedure, Tally, Verdict
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import Counts, Decision, Phase


@dataclass(frozen=True)
class Hoeffding(Procedure):
    """Choose the class by some votes, bound its probability by others.

    Args:
        n: votes that bound the class.
        first_votes: votes that choose it.
    """

    n: int = 1_000
    first_votes: int = 50

    def plan(self, noise: NoiseLaw, alpha: float) -> Plan:
        phases = (Phase("select", (self.first_votes,)), Phase("estimate", (self.n,)))
        return _Plan(noise, alpha, phases)


@dataclass(frozen=True)
class _Plan(Plan):
    noise: NoiseLaw
    alpha: float
    phases: tuple[Phase, Phase]

    def start(self) -> Decision[Verdict]:
        return _Decision(self)


class _Decision(Decision[Verdict]):
    def __init__(self, plan: _Plan) -> None:
        self.plan, self.tallies = plan, []

    def absorb(self, look: int, counts: Counts) -> bool:
        self.tallies.append(Tally(self.plan.phases[look].name, "bound" if look else "select", counts))
        return look == 1

    def verdict(self) -> Verdict:
        chosen, counts = self.tallies[0].counts.top, self.tallies[1].counts
        share = float(counts.votes[chosen] / counts.drawn)
        p = max(share - sqrt(log(1 / self.plan.alpha) / (2 * counts.drawn)), 0.0)
        if p <= 0.5:
            return Verdict(Outcome.NO_MAJORITY, None, 0.0, p, tuple(self.tallies))
        return Verdict(Outcome.CERTIFIED, chosen, self.plan.noise.radius(p), p, tuple(self.tallies))
'''
SHOW = """
import json, sys
from smoothcert.store import Run
run = Run.open(sys.argv[1])
columns = [list(map(float, values)) for values in (run.p_hat, run.column("p_lower"), run.column("radius"))]
print(json.dumps([run.manifest["procedure"], run.manifest["packages"], *columns]))
"""


@pytest.mark.slow
def test_a_procedure_from_outside_is_listed_certified_resumed_and_audited(tmp_path, digit_models):
    site, run = tmp_path / "site", tmp_path / "run"
    install(site, GROUP, "hoeffding.py", PROCEDURE)
    own = ("--procedure", "hoeffding", "--first-votes", 70, "--n", 600)
    certify = ("certify", digit_models[0], *own, "--seed", 1, "--workers", 2, "--first", 4)
    help_text, wrong, stopped, resumed, whole, audited, table = commands(
        site,
        ("certify", "--help"),
        (*certify, "--radius", 1, "--out", tmp_path / "no"),
        ("stopped", *certify, "--out", run),
        (*certify, "--out", run, "--resume"),
        (*certify, "--out", tmp_path / "whole"),
        ("audit", run),
        ("analyze", run),
    )
    assert "hoeffding" in help_text[1]
    assert "--first-votes" in help_text[1]
    assert wrong[0] == 2
    assert "'hoeffding' takes no --radius" in wrong[2]
    codes = [part[0] for part in (stopped, resumed, whole, audited, table)]
    assert codes == [130, 0, 0, 0, 0], (stopped, resumed, whole, audited, table)
    assert "no second formula for procedure 'hoeffding'" in audited[1] + audited[2]
    shown = json.loads(python(site, SHOW, str(run)))
    assert shown == json.loads(python(site, SHOW, str(tmp_path / "whole")))
    procedure, packages, p_hat, p_lower, radii = shown
    assert procedure == {"name": "hoeffding", "n": 600, "first_votes": 70}
    assert PACKAGE in json.dumps(packages)
    assert len(radii) == 4
    assert all(
        p <= hat - math.sqrt(math.log(1000) / 1200) + 1e-12 for p, hat in zip(p_lower, p_hat, strict=True)
    )
