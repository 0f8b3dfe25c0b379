"""A configuration is checked before anything is computed, and errors are one sentence."""

import pytest

from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.training import OBJECTIVES, Objective, TrainConfig


@pytest.mark.parametrize(
    "values, message",
    [
        ({"sigma": -1}, "'sigma' is wrong: Input should be greater than 0, got -1"),
        ({"sigma": float("nan")}, "'sigma' is wrong"),
        ({"sigma": "wide"}, "'sigma' is wrong: .*got 'wide'"),
        ({"epochs": 0}, "'epochs' is wrong"),
        ({"epochs": 1.5}, "'epochs' is wrong"),
        ({"lr": float("inf")}, "'lr' is wrong"),
        ({"momentum": 1}, "'momentum' is wrong"),
        ({"batch_size": 0}, "'batch_size' is wrong"),
        ({"weight_decay": -0.1}, "'weight_decay' is wrong"),
        ({"seed": -1}, "'seed' is wrong: .*from 0 to 2"),
        ({"seed": 2**128}, "'seed' is wrong"),
        ({"warmup_epochs": -1}, "'warmup_epochs' is wrong"),
        ({"optimizer": "lion"}, "'optimizer' is wrong: .*'sgd' or 'adam'"),
        ({"precision": "8-bit"}, "'precision' is wrong"),
        ({"schedule": "step"}, "step schedule needs milestones"),
        ({"milestones": (5,)}, "step schedule needs milestones .* the others take none"),
        ({"schedule": "step", "milestones": (5, 20), "epochs": 20}, "between 0 and epochs=20"),
        ({"settings": {"lbd": 1}}, "method 'gaussian' has no setting 'lbd'; known: none"),
        ({"learning_rate": 0.1}, "unknown training setting 'learning_rate'; known: .*lr"),
    ],
)
def test_wrong_values(values, message):
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        TrainConfig(**values)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("field", ["dataset", "model", "method", "noise", "schedule"])
def test_unknown_names_list_the_known_ones(field):
    with pytest.raises(UnknownNameError, match=f"unknown {field} 'nonesuch'; known: "):
        TrainConfig(**{field: "nonesuch"})


def test_largest_seed_is_kept():
    assert TrainConfig(seed=2**128 - 1).seed == 2**128 - 1


@pytest.mark.parametrize("name", list(OBJECTIVES))
def test_every_method_is_an_objective_with_defaults(name):
    assert isinstance(OBJECTIVES[name](), Objective)


def test_scaling_moves_drops_and_warm_up_and_says_so():
    config = TrainConfig(epochs=150, schedule="step", milestones=(50, 100), warmup_epochs=10)
    short = config.scaled(15)
    assert (short.epochs, short.milestones, short.warmup_epochs) == (15, pytest.approx((5, 10)), 1.0)
    assert short.recipe_epochs == 150
    assert short.scaled(30).recipe_epochs == 150
    assert short.scaled(150).milestones == pytest.approx(config.milestones)
