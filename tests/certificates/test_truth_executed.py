"""The guarantee through models that are more than their class: hooks, wrappers, globals, overridden calls.

Each is a half-space whose `forward` alone claims a margin three times too large. Its certificates are those of the
plain half-space, vote by vote, of which `test_truth.py` has shown errors and power with the same seeds.
"""

from functools import partial

import pytest
from torch import nn

from truth import (
    ALPHA,
    JUST_ABOVE,
    LAWS,
    MARGINS,
    TARGETED,
    TIMES,
    WELL_BELOW,
    HalfSpace,
    certificates_often,
    certify_often,
    errors,
    half_space,
    most_errors,
)

MARGIN, NOISE = MARGINS["gaussian"], LAWS["gaussian"]
PROCEDURE = TARGETED["sequential"]
TRUE_MODEL = half_space(MARGIN)
AS_IN_TEST_TRUTH = ((JUST_ABOVE, 11), (WELL_BELOW, 12))  # target in margins, seed


def too_wide():
    return HalfSpace(3 * MARGIN).eval()


def hooked():
    model = too_wide()
    model.register_forward_hook(lambda module, args, output: TRUE_MODEL(args[0]))
    return model


def hooked_before():
    model = too_wide()
    model.register_forward_pre_hook(lambda module, args: (args[0] - 2 * MARGIN,))
    return model


def hooked_member():
    model = nn.Sequential(hooked(), nn.Identity()).eval()
    assert not model.training
    return model


class Called(HalfSpace):
    def __call__(self, batch):
        return TRUE_MODEL(batch)


def on_the_instance():
    model = too_wide()
    model.forward = TRUE_MODEL
    return model


def wrapped():
    model = TRUE_MODEL
    for _ in range(6):
        model = partial(_pass_on, model)
    return model


def _pass_on(model, batch):
    return model(batch)


def by_global():
    return lambda batch: TRUE_MODEL(batch)


MODELS = {
    "hook": hooked,
    "pre-hook": hooked_before,
    "hook of a member": hooked_member,
    "overridden call": lambda: Called(3 * MARGIN).eval(),
    "forward on the instance": on_the_instance,
    "wrappers": wrapped,
    "global": by_global,
}


FEW = 200  # certificates, of about 2,000 votes each: a margin off by a hundredth of sigma moves votes in all of them


def certificates(model, share, seed):
    procedure = PROCEDURE(MARGIN * share)
    return certificates_often(model, NOISE, procedure, times=FEW, alpha=ALPHA, seed=seed)


@pytest.fixture(scope="module")
def plain():
    return [certificates(TRUE_MODEL, share, seed) for share, seed in AS_IN_TEST_TRUTH]


@pytest.mark.parametrize("name", MODELS)
def test_every_vote_is_that_of_the_plain_half_space(name, plain):
    assert [certificates(MODELS[name](), share, seed) for share, seed in AS_IN_TEST_TRUTH] == plain


@pytest.mark.slow
def test_the_class_by_itself_would_fail(plain):
    """The unsound twin: the module as a tracer that reads only `forward` sees it."""
    for (share, seed), expected in zip(AS_IN_TEST_TRUTH, plain, strict=True):
        found = certificates(too_wide(), share, seed)
        assert all(one != other for one, other in zip(found, expected, strict=True))
    above = certify_often(
        too_wide(), NOISE, PROCEDURE(MARGIN * JUST_ABOVE), times=TIMES, alpha=ALPHA, seed=11
    )
    assert errors(above, MARGIN) > most_errors(TIMES, ALPHA)
