"""The guarantee through models that are more than their class: hooks, wrappers, globals, overridden calls.

Each is a half-space whose `forward` alone claims a margin three times too large.
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
    certify_often,
    errors,
    half_space,
    most_errors,
)

MARGIN, NOISE = MARGINS["gaussian"], LAWS["gaussian"]
PROCEDURE = TARGETED["sequential"]
TRUE_MODEL = half_space(MARGIN)


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


def check(model, expected_to_hold=True):
    above = certify_often(model, NOISE, PROCEDURE(MARGIN * JUST_ABOVE), times=TIMES, alpha=ALPHA, seed=11)
    assert (errors(above, MARGIN) <= most_errors(TIMES, ALPHA)) is expected_to_hold


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_errors_stay_within_alpha_and_power_is_there(name):
    check(MODELS[name]())
    below = certify_often(
        MODELS[name](), NOISE, PROCEDURE(MARGIN * WELL_BELOW), times=TIMES, alpha=ALPHA, seed=12
    )
    assert ((below.predicted == 1) & (below.radius >= MARGIN * WELL_BELOW)).mean() >= 0.9


@pytest.mark.slow
def test_the_class_by_itself_would_fail():
    """The unsound twin: the module as a tracer that reads only `forward` sees it."""
    check(too_wide(), expected_to_hold=False)
