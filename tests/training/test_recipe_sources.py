"""Every shipped recipe says where its values come from and what differs: never silence, never a stale word."""

import re
from functools import cache

import pytest
from pydantic import ValidationError

from smoothcert.training import hyper_parameters, load_recipe, recipe_names
from smoothcert.training.config import TrainConfig
from smoothcert.training.recipe import ShippedRecipe

load = cache(load_recipe)
NAMES = recipe_names()
PAPERS = ("consistency paper", "variance paper", "AdvMacer paper", "SOME paper", "SWEEN paper")
every_recipe = pytest.mark.parametrize("name", NAMES)


@every_recipe
def test_source_and_deviation_are_there_and_say_something(name):
    recipe = load(name)
    assert isinstance(recipe, ShippedRecipe)
    assert "ours" in recipe.source or "no table" in recipe.source or any(p in recipe.source for p in PAPERS)
    assert recipe.deviation == "none" or len(recipe.deviation.split()) >= 8
    for text in (recipe.source, recipe.deviation):
        assert text == " ".join(text.split())  # one line, for any width
        assert not re.search(r"\b(todo|tbd|unknown yet|see above|etc)\b", text, re.IGNORECASE)


@every_recipe
def test_what_is_in_no_table_does_not_cite_one_and_says_whose_it_is(name):
    source = load(name).source
    cites = any(f"{paper}, " in source for paper in PAPERS)
    assert cites != ("in no table" in source or "in no paper" in source)


@pytest.mark.parametrize("field", ["source", "deviation"])
def test_a_shipped_recipe_without_either_is_refused(field):
    values = load("digits-gaussian").model_dump()
    ShippedRecipe.model_validate(values)
    for wrong in (
        {k: v for k, v in values.items() if k != field},
        {**values, field: ""},
        {**values, field: None},
    ):
        with pytest.raises(ValidationError, match=field):
            ShippedRecipe.model_validate(wrong)


@every_recipe
def test_the_changes_that_the_texts_name_can_be_made(name):
    """Options of a text are of its own recipe, and a value that it offers is not the one the recipe has."""
    recipe = load(name)
    config = recipe.config()
    known = {*hyper_parameters(config.method), *TrainConfig.model_fields}
    for key, value in re.findall(r"--set (\w+)=([\w.-]*\w)", f"{recipe.source} {recipe.deviation}"):
        assert key in known, key
        if key in recipe.deviation and value in ("true", "false"):
            held = getattr(config.objective() if key in hyper_parameters(config.method) else config, key)
            assert held is not (value == "true"), key


@every_recipe
def test_recipes_that_a_text_names_exist(name):
    text = f"{load(name).source} {load(name).deviation}"
    named = re.findall(r"\b(?:digits|fashion-mnist|mnist|cifar10|svhn|imagenet)-[a-z0-9-]*[a-z0-9]", text)
    assert set(named) <= set(NAMES)


@every_recipe
def test_a_text_that_speaks_of_momentum_normalisation_or_noise_is_right(name):
    recipe = load(name)
    for sigma in recipe.rows:
        config = recipe.config(sigma=sigma)
        if "plain momentum" in recipe.deviation:
            assert (config.optimizer, config.momentum, config.nesterov) == ("sgd", 0.9, False)
        assert ("missing input normalisation" in recipe.deviation) <= (not config.normalize)
        assert (not config.normalize) <= ("input normalisation" in recipe.deviation)
        if config.method == "advmacer":
            assert ("noises serve the loss too" in recipe.deviation) == (not config.objective().fresh_noise)
        if config.method == "some-smoothmix":
            assert ("mean logits" in recipe.deviation) == (config.objective().average == "logits")


def test_the_lines_that_made_some_s_numbers_average_softmaxes():
    """The released code made the numbers of the tables; recipes of ours mix with what is certified."""
    assert load("cifar10-some-smoothmix").config().objective().average == "softmax"
    for dataset in ("digits", "mnist", "fashion-mnist"):
        assert load(f"{dataset}-some-smoothmix").config().objective().average == "logits"
