"""The guarantee for networks with heads, from both sides, where its truth is known: heads that are half-spaces."""

import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.ensembles import ConsensusEnsemble, TrunkedEnsemble, VotingEnsemble
from smoothcert.networks import MultiHead
from truth import (
    ALPHA,
    CENTRE,
    JUST_ABOVE,
    TIMES,
    WELL_BELOW,
    HalfSpace,
    ReusedVotes,
    assert_votes_of_the_half_space,
    certify_often,
    errors,
    most_errors,
)

MARGIN, NOISE, N = 0.25, sc.Gaussian(0.25), 1_000


class Scale(nn.Module):
    """A trunk: features are the distance from the image's centre, doubled."""

    def forward(self, batch):
        return 2 * (batch.reshape(len(batch), -1)[:, :1] - CENTRE)


class Head(HalfSpace):
    """A half-space of the image, seen through the trunk's features."""

    def forward(self, features):
        return super().forward(features / 2 + CENTRE)


def network(shift, margins):
    return MultiHead(Scale(), [Head(margin + shift) for margin in margins])


def over_heads(shift, margins, rule="soft", k=None):
    model = network(shift, margins)
    ensemble = VotingEnsemble(list(model.heads), rule)
    return TrunkedEnsemble(model.trunk, ensemble if k is None else ConsensusEnsemble(ensemble, k))


# From a shift of all margins to a classifier whose boundary lies 0.25 plus that shift away, by hand: the mean of
# margins, or their median for the hard vote. A consensus of heads at 0.1 and 0.3 is undecided between the two, where
# all three decide by their mean, 0.25.
KINDS = {
    "mean": lambda s: network(s, (0.05, 0.2, 0.25, 0.5)),
    "hard": lambda s: over_heads(s, (0.1, 0.25, 0.6), "hard"),
    "consensus": lambda s: over_heads(s, (0.1, 0.3, 0.35), k=2),
    "consensus-hard": lambda s: over_heads(s, (0.1, 0.6, 0.25), "hard", k=2),
    "one-head": lambda s: network(s, (0.05, 0.25, 0.5)).head(1),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_boundary_is_where_the_tests_believe(kind):
    model = KINDS[kind](0.0).eval()
    for place, expected in ((-MARGIN - 0.01, 0), (-MARGIN + 0.01, 1), (-1.0, 0), (1.0, 1)):
        assert model(torch.full((16, 1), CENTRE + place)).argmax(dim=1).tolist() == [expected] * 16


PROCEDURES = {
    "fixed": sc.FixedSample(n=N),
    "group": sc.GroupSequential(radius=MARGIN * JUST_ABOVE, n=N, beta=0.05),
}


@pytest.mark.parametrize("name", PROCEDURES)
@pytest.mark.parametrize("kind", KINDS)
def test_heads_cast_the_votes_of_the_half_space_that_they_are(kind, name):
    """So that they err as rarely and reach as far; 1e5 votes tell boundaries apart that differ by 1e-4 of sigma."""
    model, how = KINDS[kind](0.0).eval(), {"times": 100, "alpha": ALPHA, "seed": 41}
    assert_votes_of_the_half_space(model, MARGIN, NOISE, PROCEDURES[name], **how)


@pytest.mark.slow
def test_heads_err_at_most_alpha_and_have_power():
    model = KINDS["consensus"](0.0).eval()
    fixed = certify_often(model, NOISE, PROCEDURES["fixed"], times=TIMES, alpha=ALPHA, seed=41)
    assert errors(fixed, MARGIN) <= most_errors(TIMES, ALPHA)
    assert ((fixed.predicted == 1) & (fixed.radius >= WELL_BELOW * MARGIN)).mean() >= 0.9
    above = certify_often(model, NOISE, PROCEDURES["group"], times=TIMES, alpha=ALPHA, seed=42)
    assert errors(above, MARGIN) <= most_errors(TIMES, ALPHA)


@pytest.mark.slow
def test_reused_votes_of_heads_fail_the_same_check():
    model = KINDS["consensus"](-MARGIN).eval()  # the image lies on the boundary: no radius is true
    twin = certify_often(model, NOISE, ReusedVotes(N), times=TIMES, alpha=ALPHA, seed=44)
    sound = certify_often(model, NOISE, sc.FixedSample(n=N), times=TIMES, alpha=ALPHA, seed=44)
    assert errors(sound, 0.0) <= most_errors(TIMES, ALPHA) < errors(twin, 0.0)
