"""Recipe values against what the papers and their released code say (METHODS, sections 0 and 3)."""

import pytest
import torch

from smoothcert.networks import create_model
from smoothcert.training import load_recipe
from smoothcert.training.first_model import first_model


def test_batches_of_macer_and_sween():
    assert load_recipe("mnist-macer").config().batch_size == 256  # images, 16 copies of each
    assert load_recipe("cifar10-macer").config().batch_size == 64
    assert load_recipe("cifar10-gaussian-sween").config().batch_size == 64
    assert load_recipe("svhn-gaussian").config().batch_size == 64


def test_macer_in_150_epochs_has_a_row_of_its_own():
    """440 epochs are MACER's own; the table of small networks was made with 150."""
    whole, short = load_recipe("cifar10-macer"), load_recipe("cifar10-macer-150")
    assert "Table 4" not in whole.source
    assert "densenet40" not in whole.networks
    assert whole.config().epochs == 440
    config = short.config(sigma=0.5, model="densenet40")
    assert (config.epochs, config.settings["lbd"]) == (150, 4.0)
    assert [round(drop / 150, 2) for drop in config.milestones] == [round(d / 440, 2) for d in (200, 400)]
    assert "(ours)" in short.source


@pytest.mark.parametrize(
    "name, normalised",
    [
        ("cifar10-gaussian", True),
        ("cifar10-consistency", True),
        ("cifar10-macer", False),
        ("svhn-macer", False),
        ("svhn-advmacer", True),
        ("cifar10-gaussian-sween", False),
        ("svhn-gaussian", False),
    ],
)
def test_networks_that_were_published_without_normalisation_have_none(name, normalised):
    config = load_recipe(name).config(model="resnet20")
    assert config.normalize is normalised
    mean, std = config.normalisation()
    assert (mean == (0.0, 0.0, 0.0) and std == (1.0, 1.0, 1.0)) is not normalised

    class Images:
        num_classes, input_shape = 10, (3, 32, 32)

    first = first_model(config, Images()).normalize
    assert bool((first.mean == 0).all()) is not normalised


def test_l0_rows_train_as_the_released_commands_of_lee_et_al():
    """MNIST: batch 400, rate .05 with Nesterov, 30 epochs, a tenth every 10. ImageNet: batch 200 and the defaults."""
    mnist, imagenet = load_recipe("mnist-discrete").config(), load_recipe("imagenet-discrete").config()
    assert (mnist.batch_size, mnist.lr, mnist.nesterov) == (400, 0.05, True)
    assert (mnist.epochs, mnist.milestones, mnist.weight_decay) == (30, (10, 20), 1e-4)
    assert (mnist.keep, mnist.levels) == (0.8, 2)
    assert (imagenet.batch_size, imagenet.lr, imagenet.nesterov) == (200, 0.1, False)
    assert (imagenet.epochs, imagenet.milestones, imagenet.weight_decay) == (90, (30, 60), 1e-4)
    assert (imagenet.keep, imagenet.levels) == (0.2, 256)


def test_batches_on_imagenet_are_those_of_the_paper_that_has_the_row():
    """Consistency paper: 200, sigma .5 and 1; variance paper, alone at .25 and compared with by SOME: 256."""
    recipe = load_recipe("imagenet-consistency")
    assert [recipe.config(sigma=sigma).batch_size for sigma in (0.25, 0.5, 1.0)] == [256, 200, 200]
    assert load_recipe("imagenet-some-consistency").config().batch_size == 256
    assert load_recipe("imagenet-gaussian").config().batch_size == 256


@pytest.mark.parametrize("dataset", ["cifar10", "imagenet", "mnist", "fashion-mnist"])
@pytest.mark.parametrize("objective", ["mse", "ce", "stability"])
def test_denoisers_train_with_the_defaults_of_the_released_script(dataset, objective):
    config = load_recipe(f"{dataset}-denoiser-{objective}").config()
    assert (config.optimizer, config.lr, config.weight_decay, config.batch_size) == ("adam", 1e-3, 1e-4, 256)
    assert (config.epochs, config.milestones) == (90, (30, 60))


def test_residual_networks_start_as_published():
    """Convolutions from a normal law of variance 2 / (k k out); the last layer from torch's uniform law."""
    torch.manual_seed(0)
    network = create_model("resnet110", num_classes=10)
    convolutions = [layer for layer in network.modules() if isinstance(layer, torch.nn.Conv2d)]
    for layer in convolutions:
        fan_out = layer.kernel_size[0] * layer.kernel_size[1] * layer.out_channels
        spread = float(layer.weight.detach().std()) / (2 / fan_out) ** 0.5
        assert abs(spread - 1) < 5 / (2 * layer.weight.numel()) ** 0.5
    (last,) = [layer for layer in network.modules() if isinstance(layer, torch.nn.Linear)]
    assert float(last.weight.detach().abs().max()) <= 1 / 64**0.5
    assert float(last.weight.detach().abs().max()) > 0.9 / 64**0.5
