"""Recipes: each loads, builds every row, takes a step with every network, and holds the papers' numbers."""

import math
from functools import cache
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from lightning_fabric import Fabric

from smoothcert.data import DATASETS, Dataset
from smoothcert.ensembles import VotingEnsemble
from smoothcert.errors import InvalidArgumentError, UnknownNameError
from smoothcert.networks import Denoised, DnCNN, create_model
from smoothcert.training import OBJECTIVES, hyper_parameters, load_recipe, recipe_names
from smoothcert.training.augmenting import NamedAugmenting
from smoothcert.training.first_model import size_of
from smoothcert.training.loop import Loop, make_optimizer
from smoothcert.training.materials import Materials

LARGE = ("alexnet", "densenet", "resnet110", "resnet34", "resnet50", "vgg")
# Small networks that take the images: enough to run a method with its own m and steps.
SMALL = {"digits": "convnet", "mnist": "lenet", "fashion-mnist": "lenet"}
# 224 pixels take seconds per step on one core. At 32, the least these networks take, batch norm would see two values
# in the last stage and their difference alone would decide the step.
SIDE = {"imagenet": 64}

load = cache(load_recipe)
NAMES = recipe_names()
ROWS = [(name, sigma) for name in NAMES for sigma in load(name).rows]


def different(pairs, seen_as):
    """The first of those pairs of a recipe and one of its rows or networks that come out alike."""
    first = {}
    for name, part in pairs:
        first.setdefault(seen_as(name, part), (name, part))
    return list(first.values())


def own_steps(name, sigma):
    """All that a row changes in the steps that it takes, but for the strength of the noise."""
    config = load(name).config(sigma=sigma)
    schedule = (
        config.optimizer,
        config.lr,
        config.schedule,
        config.warmup_epochs,
        config.augment,
        config.precision,
    )
    return config.dataset, config.noise, repr(config.objective()), config.heads, config.split, *schedule


def own_network(name, model):
    """All that decides which network is built, and what of it is trained."""
    config = load(name).config(model=model)
    return config.dataset, model, config.heads, config.split, config.normalize, config.objective().trains


STEPS = different(ROWS, own_steps)
NETWORKS = [
    pytest.param(name, model, marks=[pytest.mark.slow] if model.startswith(LARGE) else [])
    for name, model in different(
        [(name, model) for name in NAMES for model in load(name).networks], own_network
    )
]


def made_up(dataset, side=None):
    """Two images of the data set's shape, one of the first class and one of the last."""
    source = DATASETS[dataset]
    shape = source.input_shape if side is None else (source.input_shape[0], side, side)
    pixels = np.random.default_rng(0).integers(0, 256, (2, *shape), dtype=np.uint8)
    names = [str(label) for label in range(source.num_classes)]
    return Dataset.from_arrays(pixels, [0, source.num_classes - 1], name=dataset, class_names=names)


def first_model(config, data):
    """What the method trains: a network, two members together, or a denoiser before a network."""
    source, trains = DATASETS[config.dataset], config.objective().trains

    def network(name=config.model):
        return create_model(
            name,
            num_classes=data.num_classes,
            input_shape=data.input_shape,
            mean=source.mean,
            std=source.std,
            heads=config.heads,
            split=config.split,
        )

    if trains == "members":
        return VotingEnsemble([network(), network()])
    if trains == "denoiser":
        depth, width = min(size_of(config)[0], 5), min(size_of(config)[1], 8)
        return Denoised(DnCNN(data.input_shape[0], depth, width), network("convnet"))
    return network()


def stepped(config, epochs, side=None):
    """Take the step of each epoch on two made-up images; return the losses and the largest change of a weight."""
    data, source = made_up(config.dataset, side), DATASETS[config.dataset]
    if source.augmentation == "resized-crop-flip":
        config = config.changed(augment=False)  # it cuts from picture files, and these images are arrays
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = first_model(config, data)
        before = [weight.detach().clone() for weight in model.parameters()]
        fabric = Fabric(accelerator="cpu", devices=1, precision=config.precision)
        augmenting = NamedAugmenting(source.augmentation if config.augment else "none")
        materials = Materials(data, augmenting=augmenting)
        loop = Loop(fabric, model, make_optimizer(model, config), materials, config, seed=1)
        assert loop.steps_per_epoch == 1
        losses = [sum(loop.epoch(epoch).parts.values()) for epoch in epochs]
    pairs = zip(model.parameters(), before, strict=True)
    return losses, max((after - weight).abs().max().item() for after, weight in pairs)


def test_names_say_data_set_and_method():
    assert len(NAMES) == len(set(NAMES)) >= 45
    for name in NAMES:
        recipe = load(name)
        assert recipe.name == name
        assert name.startswith(f"{recipe.base['dataset']}-")
        assert recipe.about.endswith(".")


def test_every_method_has_a_recipe_on_the_embedded_digits():
    methods = {load(name).base["method"] for name in NAMES if name.startswith("digits-")}
    assert {"standard", "gaussian", "stability", "consistency", "smoothadv", "macer", "smoothmix"} <= methods
    assert {"advmacer", "consistency-smoothadv"} <= methods
    assert {"drt", "drt-smoothadv", "denoiser-mse", "denoiser-ce", "denoiser-stability"} <= methods
    assert {"some-gaussian", "some-consistency", "some-smoothmix"} <= methods


@pytest.mark.parametrize("name", NAMES)
def test_every_row_builds_its_configuration(name):
    recipe = load(name)
    for sigma in recipe.rows:
        for model in recipe.networks:
            config = recipe.config(sigma=sigma, model=model)
            row = getattr(config, recipe.row_key)  # sigma, or keep under l0 noise
            assert (config.recipe, row, config.model) == (name, sigma, model)
            # Of a rule that holds for all: a step sees at least 16 images, whatever m is.
            objective = config.objective()
            images = config.batch_size // (1 if objective.batch_counts_images else objective.copies)
            assert images >= 16
            assert config.batch_size % objective.copies == 0 or objective.batch_counts_images


@pytest.mark.parametrize("name", NAMES)
def test_what_warms_up_has_a_warm_up(name):
    config = load(name).config()
    warms = "eps" in hyper_parameters(config.method) or config.method.endswith("smoothmix")
    assert config.warmup_epochs == ((2 if config.dataset == "digits" else 10) if warms else 0)


@pytest.mark.parametrize("name, sigma", STEPS)
def test_a_row_trains_with_its_own_copies_and_steps(name, sigma):
    dataset = load(name).base["dataset"]
    denoiser = "dncnn-small" if load(name).config().objective().trains == "denoiser" else None
    config = load(name).config(sigma=sigma, model=denoiser or SMALL.get(dataset, "lenet-cifar"))
    # The first epoch begins the warm-up; in the last one everything has warmed up and deferred terms count.
    losses, change = stepped(config, (0, config.epochs - 1), SIDE.get(dataset))
    assert all(math.isfinite(loss) for loss in losses)
    assert 0 < change < 100


@pytest.mark.parametrize("name, model", NETWORKS)
def test_every_network_takes_a_step(name, model):
    recipe = load(name)
    settings = {**recipe.base.get("settings", {}), **next(iter(recipe.rows.values())).get("settings", {})}
    # Fewer copies and attack steps than the recipe's: the test above has run the method with its own.
    less = {key: min(settings[key], 2 if key == "m" else 1) for key in ("m", "steps") if key in settings}
    config = recipe.config(model=model, settings=less)
    losses, change = stepped(config, (0,), SIDE.get(config.dataset))
    assert math.isfinite(losses[0])
    assert change > 0


@pytest.mark.slow
def test_imagenet_takes_a_step_at_its_full_size():
    losses, change = stepped(load("imagenet-gaussian").config(), (0,))
    assert math.isfinite(losses[0])
    assert change > 0


NUMBERS = [
    ("cifar10-drt", 0.5, {"epochs": 150, "batch_size": 256, "milestones": (50, 100)}),
    ("cifar10-drt-smoothadv", 0.25, {"epochs": 150, "m": 4, "steps": 10, "eps": 255 / 256}),
    ("cifar10-denoiser-mse", 0.25, {"optimizer": "adam", "lr": 1e-3, "epochs": 90, "milestones": (30, 60)}),
    ("imagenet-denoiser-stability", 1.0, {"optimizer": "adam", "lr": 1e-3, "model": "dncnn"}),
    ("mnist-denoiser-ce", 0.5, {"optimizer": "adam", "lr": 1e-3, "milestones": (30, 60)}),
    ("cifar10-gaussian", 0.25, {"lr": 0.1, "epochs": 150, "milestones": (50, 100), "batch_size": 256}),
    ("cifar10-gaussian", 1.0, {"weight_decay": 1e-4, "momentum": 0.9, "nesterov": False, "augment": True}),
    ("mnist-gaussian", 0.5, {"lr": 0.01, "epochs": 90, "milestones": (30, 60), "batch_size": 256}),
    ("imagenet-gaussian", 0.5, {"lr": 0.1, "epochs": 90, "milestones": (30, 60)}),
    ("cifar10-stability", 0.25, {"lbd": 2}),
    ("cifar10-stability", 1.0, {"lbd": 1}),
    ("mnist-stability", 1.0, {"lbd": 2}),
    ("cifar10-smoothadv", 0.25, {"steps": 10, "eps": 255 / 256, "m": 4, "warmup_epochs": 10}),
    ("cifar10-smoothadv", 1.0, {"steps": 10, "eps": 512 / 256, "m": 2}),
    ("cifar10-smoothadv-fixed", 0.5, {"steps": 10, "eps": 1, "m": 8}),
    ("cifar10-smoothadv-variance", 0.25, {"steps": 10, "eps": 255 / 256, "m": 8}),
    ("cifar10-smoothadv-variance", 0.5, {"steps": 2, "eps": 2, "m": 2}),
    ("cifar10-smoothadv-advmacer", 0.5, {"steps": 2, "eps": 2, "m": 8}),
    ("cifar10-smoothadv-advmacer", 1.0, {"steps": 2, "eps": 2, "m": 4}),
    ("mnist-smoothadv", 0.25, {"steps": 10, "eps": 1, "m": 4, "attack": "pgd"}),
    ("mnist-smoothadv-ddn", 0.25, {"attack": "ddn"}),
    ("imagenet-smoothadv", 0.5, {"steps": 1, "m": 1, "eps": 255 / 256}),
    ("imagenet-smoothadv", 1.0, {"steps": 1, "m": 1, "eps": 2}),
    ("imagenet-smoothadv-advmacer", 0.25, {"eps": 0.5}),
    ("svhn-smoothadv", 0.5, {"steps": 2, "m": 4, "eps": 0.25, "lr": 0.01}),
    ("cifar10-macer", 0.25, {"m": 16, "beta": 16, "gamma": 8, "lbd": 12, "deferred": False}),
    ("cifar10-macer", 0.5, {"lbd": 4, "deferred": False, "lr": 0.01, "weight_decay": 5e-4}),
    ("cifar10-macer", 1.0, {"lbd": 12, "deferred": True, "batch_size": 64, "epochs": 440}),
    ("cifar10-macer", 1.0, {"milestones": (200, 400)}),
    ("mnist-macer", 0.5, {"lbd": 16, "deferred": True, "lr": 0.01, "epochs": 90}),
    ("mnist-macer", 1.0, {"lbd": 6, "deferred": True}),
    ("cifar10-consistency", 0.25, {"lbd": 20, "eta": 0.5, "m": 2}),
    ("cifar10-consistency", 1.0, {"lbd": 10, "eta": 0.5, "m": 2}),
    ("cifar10-consistency-small-lambda", 0.25, {"lbd": 10}),
    ("cifar10-consistency-small-lambda", 1.0, {"lbd": 5}),
    ("mnist-consistency", 0.25, {"lbd": 10, "eta": 0.5, "m": 2, "variant": "kl"}),
    ("mnist-consistency", 1.0, {"lbd": 5}),
    ("mnist-consistency-kl", 1.0, {"variant": "kl-only", "lbd": 5}),
    ("imagenet-consistency", 0.25, {"lbd": 10, "eta": 0.5}),
    ("imagenet-consistency", 1.0, {"lbd": 5, "eta": 0.1}),
    ("cifar10-consistency-smoothadv", 0.25, {"lbd": 2, "m": 4, "steps": 10}),
    ("cifar10-consistency-smoothadv", 0.5, {"lbd": 1, "m": 2, "eps": 2}),
    ("mnist-consistency-smoothadv", 0.5, {"lbd": 1, "m": 4, "eps": 1}),
    ("cifar10-smoothmix", 0.5, {"m": 2, "steps": 4, "eta": 5, "step_size": 1, "one_step": False}),
    ("cifar10-smoothmix-one-step", 1.0, {"step_size": 2, "one_step": True, "warmup_epochs": 10}),
    ("mnist-smoothmix", 1.0, {"m": 4, "steps": 8, "eta": 1, "step_size": 1}),
    ("cifar10-advmacer", 0.25, {"lbd": 12, "gamma": 8, "beta": 16, "steps": 2, "m": 8, "eps": 1}),
    ("cifar10-advmacer", 1.0, {"m": 4, "eps": 2, "lr": 0.1, "batch_size": 256, "epochs": 150}),
    ("svhn-advmacer", 0.5, {"lbd": 4, "eps": 0.5, "m": 4, "steps": 2, "lr": 0.01}),
    ("imagenet-advmacer", 0.5, {"lbd": 2, "eps": 0.5, "m": 1, "steps": 1}),
    ("cifar10-some-gaussian", 0.25, {"heads": 5, "split": None, "m": 2, "threshold": 1.2, "batch_size": 256}),
    ("cifar10-some-gaussian", 0.5, {"threshold": 0.8, "pace": "logarithmic", "teacher": "previous"}),
    (
        "cifar10-some-gaussian",
        1.0,
        {"threshold": 0.8, "weights": "soft", "cosine": 1, "teacher_weight": True},
    ),
    ("cifar10-some-consistency", 0.25, {"threshold": 1.0, "lbd": 20, "eta": 0.5, "heads": 5, "m": 2}),
    ("cifar10-some-consistency", 0.5, {"threshold": 0.8, "lbd": 10}),
    ("cifar10-some-consistency", 1.0, {"threshold": 1.0, "lbd": 10, "epochs": 150, "milestones": (50, 100)}),
    ("cifar10-some-smoothmix", 0.25, {"threshold": 1.6, "one_step": False, "mask": False, "step_size": 0.5}),
    ("cifar10-some-smoothmix", 0.5, {"threshold": 1.0, "one_step": True, "step_size": 1, "steps": 4}),
    ("cifar10-some-smoothmix", 1.0, {"threshold": 1.6, "one_step": True, "step_size": 2, "eta": 5}),
    ("cifar10-multihead-gaussian", 0.25, {"heads": 5, "teacher": "none", "cosine": 0, "m": 2}),
    ("imagenet-some-consistency", 0.25, {"heads": 3, "split": None, "m": 2, "pace": "constant", "lbd": 10}),
    ("imagenet-some-gaussian", 1.0, {"heads": 3, "m": 2, "pace": "constant"}),
    (
        "cifar10-gaussian-sween",
        0.5,
        {"epochs": 400, "lr": 0.01, "milestones": (150, 300), "weight_decay": 5e-4},
    ),
]


@pytest.mark.parametrize("name, sigma, stated", NUMBERS)
def test_the_papers_numbers(name, sigma, stated):
    config = load(name).config(sigma=sigma)
    objective = config.objective()
    for key, value in stated.items():
        found = getattr(objective if key in hyper_parameters(config.method) else config, key)
        assert found == value, key


def test_networks_of_the_papers():
    assert list(load("cifar10-consistency").networks) == ["resnet110", "resnet20", "densenet40"]
    sween = {"lenet-cifar", "alexnet", "resnet20", "resnet110", "densenet100", "vgg16", "vgg19"}
    assert set(load("svhn-gaussian").networks) == sween
    assert set(load("cifar10-gaussian-sween").networks) == sween | {"resnet26", "resnet32"}
    assert set(load("imagenet-gaussian-sween").networks) == {"resnet18", "resnet34", "resnet50"}


@pytest.mark.parametrize("name", [name for name in NAMES if "-some-" in name or "-multihead-" in name])
def test_heads_begin_where_the_paper_s_do_or_before_the_last_two_layers(name):
    """Before the last residual stage; in the small networks without one, heads that hold more than a linear layer."""
    for model in load(name).networks:
        config = load(name).config(model=model)
        assert config.heads == (3 if config.dataset == "imagenet" else 5)
        assert config.split == (None if model.startswith("resnet") else "stage3")


def test_the_uniform_recipe_has_half_width_one():
    assert load("cifar10-uniform").config().noise_law().half_width == pytest.approx(1)


def test_an_unknown_recipe_is_answered_with_near_names():
    with pytest.raises(UnknownNameError, match=r"unknown recipe 'cifar-macer'; did you mean .*cifar10-macer"):
        load_recipe("cifar-macer")


def test_a_sigma_without_a_row_is_refused():
    with pytest.raises(
        InvalidArgumentError, match=r"no row for sigma 0\.3; it has 0\.25, 0\.5, 1;.*sigma=0\.3"
    ):
        load("cifar10-macer").config(sigma=0.3)


def test_fewer_epochs_shrink_the_schedule_on_record():
    config = load("cifar10-smoothadv").config(epochs=15)
    assert (config.epochs, config.recipe_epochs, config.recipe) == (15, 150, "cifar10-smoothadv")
    assert config.milestones == pytest.approx((5, 10))
    assert config.warmup_epochs == pytest.approx(1)


def test_settings_and_changes_reach_the_configuration():
    config = load("cifar10-consistency").config(sigma=0.5, settings={"lbd": 3.0}, lr=0.05)
    assert config.settings == {"m": 2, "eta": 0.5, "lbd": 3.0}
    assert config.lr == 0.05


def test_a_method_that_needs_heads_can_be_set_together_with_them():
    config = load("digits-gaussian").config(method="some-gaussian", heads=3, split="stage3")
    assert (config.method, config.heads, config.split) == ("some-gaussian", 3, "stage3")
    with pytest.raises(InvalidArgumentError, match=r"'some-gaussian' needs 2 heads or more, got heads=None"):
        load("digits-gaussian").config(method="some-gaussian")


OWN = """
about: One's own.
source: nobody
base: {dataset: digits, method: consistency, settings: {lbd: 3.0}}
networks: {convnet: {}, lenet: {lr: 0.05}}
rows: {0.3: {}, 0.7: {settings: {eta: 0.1}}}
"""


@pytest.fixture
def own(tmp_path):
    def write(text):
        (tmp_path / "own.yaml").write_text(text)
        return str(tmp_path / "own.yaml")

    return write


def test_a_recipe_of_one_s_own_by_path(own):
    recipe = load_recipe(own(OWN))
    assert recipe.name == "own"
    assert recipe.config().sigma == 0.3
    config = recipe.config(sigma=0.7, model="lenet")
    assert (config.lr, config.settings) == (0.05, {"lbd": 3.0, "eta": 0.1})
    assert recipe.config(model="resnet8").lr == 0.1  # any other network, with the settings that all share
    assert (recipe.source, recipe.deviation) == ("nobody", None)


def test_a_recipe_of_one_s_own_need_not_say_where_it_comes_from(own):
    recipe = load_recipe(own(OWN.replace("source: nobody\n", "")))
    assert (recipe.source, recipe.deviation) == (None, None)


WRONG = [
    ("lbd: 3.0", "lbd: -1.0", r"lbd must be a finite number, 0 or more .*got -1\.0"),
    ("lbd: 3.0", "m: 1", r"m must be a whole number, 2 or more, .*got 1"),
    ("lbd: 3.0", "lambda: 3.0", r"method 'consistency' has no setting 'lambda'; known: m, lbd, eta, variant"),
    ("method: consistency,", "method: consistncy,", r"unknown method 'consistncy'; known: .*consistency"),
    ("dataset: digits,", "dataset: digits, learning_rate: 1,", r"unknown training setting 'learning_rate'"),
    ("dataset: digits,", "dataset: digits, model: lenet,", r"'model' .* key of networks"),
    ("dataset: digits,", "dataset: digits, sigma: 0.5,", r"'sigma' .* key of rows"),
    ("settings: {lbd: 3.0}", "settings: 3", r"settings must be a table of the method's settings, got 3"),
    ("source: nobody", "origin: nobody", r"origin: unknown field; known: name, about, source, deviation"),
    ("source: nobody", "source: 3", r"source: .*valid string"),
    ("source: nobody", "deviation: [a, b]", r"deviation: .*valid string"),
    ("source: nobody", "source: nobody\norigin: nobody", r"origin: unknown field; known: name, about"),
    ("networks: {convnet: {}, lenet: {lr: 0.05}}", "networks: {}", r"networks: .*at least 1 item"),
    ("rows: {0.3: {}", "rows: {-0.3: {}", r"'sigma' is wrong: .*greater than 0, got -0\.3"),
    ("about: One's own.", "1: One's own.", r"recipe 'own': "),
    (OWN, "- a list", r"must be a table of settings, got list"),
    (OWN, "a: [", r"recipe 'own' is no YAML"),
]


@pytest.mark.parametrize("right, wrong, message", WRONG)
def test_a_wrong_recipe_is_refused_in_one_sentence(own, right, wrong, message):
    assert right in OWN
    with pytest.raises((InvalidArgumentError, UnknownNameError), match=message) as caught:
        load_recipe(own(OWN.replace(right, wrong)))
    assert "recipe 'own'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_refused_by_its_path(tmp_path):
    with pytest.raises(InvalidArgumentError, match=r"cannot read the recipe .*none\.yaml"):
        load_recipe(str(tmp_path / "none.yaml"))


def test_a_python_object_in_yaml_is_refused_and_nothing_runs(own, tmp_path):
    witness = tmp_path / "witness"
    tag = f"about: !!python/object/apply:os.mkdir ['{witness}']"
    yaml.unsafe_load(tag)  # the trap works, for whoever is careless
    witness.rmdir()
    with pytest.raises(InvalidArgumentError, match="is no YAML: could not determine a constructor"):
        load_recipe(own(OWN.replace("about: One's own.", tag)))
    assert not witness.exists()


def test_every_recipe_file_is_part_of_the_package():
    patterns = Path(__file__).parents[2].joinpath("pyproject.toml").read_text()
    assert '"training/recipes/*.yaml"' in patterns
    assert all(load(name).base["method"] in OBJECTIVES for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_the_row_of_a_listing_is_the_checked_first_row(name):
    listed, checked = load(name).first_row(), load(name).config()
    for field in ("dataset", "method", "model", "heads", "split", "epochs"):
        assert getattr(listed, field) == getattr(checked, field), field
    assert listed.objective() == checked.objective()
