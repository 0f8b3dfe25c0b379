"""A training's noise by its settings: each law by its own, nothing by another's, and a card that tells it."""

import inspect

import pytest
import torch

import smoothcert as sc
from outside import LAW, NOISE
from smoothcert.cli.options import chosen_config
from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import noise_from
from smoothcert.seeding import generator_for
from smoothcert.training import load_recipe
from smoothcert.training.objective import OBJECTIVES, Objective
from smoothcert.training.steps.noise_source import NoiseSource

L0 = {"noise": "discrete", "keep": 0.8}


def test_defaults_by_law():
    plain, l0 = sc.TrainConfig(), sc.TrainConfig(**L0)
    assert (plain.sigma, plain.model_extra) == (0.25, {})
    assert (l0.sigma, l0.model_extra) == (None, {"keep": 0.8, "levels": 2})
    assert l0.noise_law() == sc.DiscreteReplacement(0.8, 2)
    assert sc.TrainConfig(**L0, levels=256).noise_law().levels == 256
    assert sc.TrainConfig(noise="grid-gaussian", sigma=0.5).noise_law() == sc.GridGaussian(0.5)


def test_a_configuration_survives_its_record():
    for config in (sc.TrainConfig(**L0), sc.TrainConfig(noise="laplace"), sc.TrainConfig(sigma=0.5)):
        assert sc.TrainConfig(**config.model_dump(mode="json")) == config
    of_all_laws = sc.TrainConfig().model_dump() | {"keep": None, "levels": None}
    assert sc.TrainConfig(**of_all_laws) == sc.TrainConfig()  # None says nothing


def test_changing_the_law_drops_the_other_s_parameters():
    l0 = sc.TrainConfig(sigma=0.5).changed(**L0)
    assert (l0.sigma, l0.model_extra) == (None, {"keep": 0.8, "levels": 2})
    assert l0.changed(noise="uniform").sigma == 0.25
    assert sc.TrainConfig(sigma=0.5).changed(noise="uniform").sigma == 0.5


@pytest.mark.parametrize(
    "settings, message",
    [
        ({"noise": "discrete"}, "needs keep"),
        ({**L0, "sigma": 0.25}, "takes no sigma"),
        ({"keep": 0.8}, "takes no keep"),
        ({"levels": 2}, "takes no levels"),
        ({"sigma": None}, "needs sigma"),
        ({**L0, "keep": 0.5}, "keep must be a probability"),
        ({**L0, "keep": "most"}, r"'keep' is wrong: it must be of kind float \(.*got 'most'"),
        ({**L0, "keep": float("nan")}, "'keep' is wrong: .*got nan"),
        ({**L0, "keep": True}, "'keep' is wrong: .*got True"),
        ({**L0, "levels": 2.5}, "'levels' is wrong: it must be of kind int"),
        ({**L0, "width_of_noise": 2}, "unknown training setting 'width_of_noise'; known: .*keep, levels"),
    ],
)
def test_refuses_parameters_of_another_law(settings, message):
    with pytest.raises(InvalidArgumentError, match=message):
        sc.TrainConfig(**settings)


def test_recipes_for_l0_and_l1():
    l0 = load_recipe("mnist-discrete")
    assert l0.row_key == "keep"
    assert l0.config().noise_law() == sc.DiscreteReplacement(keep=0.8, levels=2)
    assert load_recipe("imagenet-discrete").config().noise_law() == sc.DiscreteReplacement(0.2, 256)
    with pytest.raises(InvalidArgumentError, match=r"no row for keep 0\.7"):
        l0.config(sigma=0.7)
    assert load_recipe("cifar10-uniform").config().noise_law().half_width == pytest.approx(1)


def test_the_command_line_sets_a_law_in_one_piece():
    changed = chosen_config("digits-gaussian", None, None, None, ["noise=discrete", "keep=0.9", "levels=4"])
    assert changed.noise_law() == sc.DiscreteReplacement(0.9, 4)
    assert chosen_config("digits-discrete", None, None, None, ["keep=0.7"]).keep == 0.7


def test_methods_that_move_images_under_fixed_noise_refuse_l0():
    source = NoiseSource(sc.DiscreteReplacement(0.8), generator_for(0, 0, "test"))
    with pytest.raises(InvalidArgumentError, match="depends on the image"):
        source.offsets(torch.zeros(2, 1, 4, 4), 2)


@pytest.mark.parametrize("method", OBJECTIVES)
def test_such_methods_say_so_and_are_refused_before_training(method):
    objective = OBJECTIVES[method]
    sources = "".join(inspect.getsource(kind) for kind in objective.__mro__ if issubclass(kind, Objective))
    assert objective.moves_images == ("step.offsets(" in sources)
    if objective.moves_images:
        with pytest.raises(
            InvalidArgumentError, match=f"method '{method}' moves images under noise that stays"
        ):
            sc.TrainConfig(**L0, method=method)


@pytest.mark.parametrize(
    "settings", [L0, {"noise": "uniform"}, {"noise": "laplace"}, {"noise": "grid-gaussian"}]
)
def test_every_law_trains_and_its_card_brings_it_back(tmp_path, settings):
    config = {**settings, "epochs": 1, "seed": 3, "max_train_images": 64, "model": "convnet"}
    card = sc.train(config, tmp_path / "m")
    law = sc.TrainConfig(**config).noise_law()
    assert noise_from(dict(card.noise)) == law
    assert sc.load_classifier(tmp_path / "m").noise == law


def test_a_law_with_a_parameter_of_its_own_is_trained_by_its_name(outside, tmp_path):
    outside.install(NOISE, "tilted", LAW)
    config = sc.TrainConfig(noise="tilted", share_kept=0.75, epochs=1, max_train_images=64, seed=1)
    assert (config.sigma, config.model_extra) == (0.25, {"share_kept": 0.75})
    assert sc.TrainConfig(noise="tilted").share_kept == 0.5  # the law's own default, on record
    assert sc.TrainConfig(**config.model_dump(mode="json")) == config
    card = sc.train(config, tmp_path / "model")
    assert card.noise == {"name": "tilted", "sigma": 0.25, "share_kept": 0.75}
    assert card.training["share_kept"] == 0.75
    assert sc.load_classifier(tmp_path / "model").noise == config.noise_law()
    plain = config.changed(noise="laplace", sigma=0.5)
    assert (plain.sigma, plain.model_extra) == (0.5, {})
    assert plain.changed(noise="tilted").model_extra == {"share_kept": 0.5}
    for wrong, message in (
        ({"share_kept": "half"}, "'share_kept' is wrong: it must be of kind float"),
        ({"keep": 0.8}, "noise 'tilted' takes no keep .*; it takes sigma, share-kept"),
        ({"share": 0.8}, "unknown training setting 'share'; known: .*, share_kept"),
    ):
        with pytest.raises(InvalidArgumentError, match=message):
            sc.TrainConfig(noise="tilted", **wrong)


def test_a_recipe_names_a_law_of_another_package_by_its_options(outside, tmp_path):
    outside.install(NOISE, "tilted", LAW)
    recipe = tmp_path / "own.yaml"
    recipe.write_text(
        "about: mine\nbase: {noise: tilted, share_kept: 0.6}\nnetworks: {convnet: {}}\n"
        "rows: {0.3: {}, 0.5: {share_kept: 0.7}}\n"
    )
    table = load_recipe(str(recipe))
    assert table.row_key == "sigma"
    assert table.config().noise_law().describe() == {"name": "tilted", "sigma": 0.3, "share_kept": 0.6}
    assert table.config(sigma=0.5).noise_law().share_kept == 0.7
    assert chosen_config(str(recipe), None, None, None, ["share_kept=0.9"]).share_kept == 0.9
    changed = chosen_config("digits-gaussian", None, None, None, ["noise=tilted", "share_kept=0.9"])
    assert changed.noise_law().share_kept == 0.9


def test_an_option_of_a_law_may_not_have_the_name_of_a_training_setting(outside):
    outside.install(NOISE, "tilted", LAW.replace("share_kept", "epochs"))
    with pytest.raises(
        InvalidArgumentError, match="noise 'tilted' has an option 'epochs', which is the name of a"
    ):
        sc.TrainConfig(noise="tilted")
