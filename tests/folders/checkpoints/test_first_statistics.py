"""The first batch norm tells how images were normalised, from statistics that images and noise themselves have made."""

import pytest
import torch
from torch import nn
from torch.nn.functional import avg_pool2d, conv2d, interpolate

import smoothcert as sc
from published_networks import CIFAR_MEAN, CIFAR_STD, Normalise, cifar_resnet, drawn
from smoothcert.errors import InvalidArgumentError


def images(generator):
    """Return smooth pictures with the mean and standard deviation of CIFAR-10."""
    coarse = interpolate(torch.randn(256, 3, 9, 9, generator=generator), (32, 32), mode="bilinear")
    smooth = avg_pool2d(coarse, 3, 1, 1)
    smooth = (smooth - smooth.mean((0, 2, 3), keepdim=True)) / smooth.std((0, 2, 3), keepdim=True)
    return smooth * torch.tensor(CIFAR_STD)[:, None, None] + torch.tensor(CIFAR_MEAN)[:, None, None]


def trained(layer, sigma, folder):
    """Write a checkpoint whose first batch norm has the variances of noisy images behind a layer."""
    generator = torch.Generator().manual_seed(1)
    network = drawn(cifar_resnet(8))
    noisy = images(generator)
    noisy = noisy + sigma * torch.randn(noisy.shape, generator=generator)
    with torch.no_grad():
        network.bn1.running_var.copy_(conv2d(layer(noisy), network.conv1.weight, padding=1).var((0, 2, 3)))
    torch.save({"state_dict": nn.Sequential(layer, network).state_dict()}, folder / "c")
    return folder / "c"


@pytest.mark.parametrize("sigma", [0.12, 0.25, 0.5, 1.0])
@pytest.mark.parametrize(
    ("std", "told"), [(CIFAR_STD, CIFAR_STD), (None, (1.0,))], ids=["standardised", "centred"]
)
def test_the_choice_is_read_from_the_variances(tmp_path, sigma, std, told):
    file = trained(Normalise(std=std), sigma, tmp_path)
    card = sc.import_checkpoint(file, tmp_path / "m", noise=sc.Gaussian(sigma), dataset="cifar10")
    assert card.std == told
    families = card.training["imported"]["families"]
    assert ("cohen" in families, "smoothadv" in families) == (std is not None, std is None)
    assert "variances" in card.training["imported"]["normalisation"]
    assert not any("beware" in note for note in card.training["imported"]["notes"])


@pytest.mark.parametrize(("std", "wrong"), [(CIFAR_STD, "smoothadv"), (None, "cohen")])
def test_a_wrong_family_is_doubted_aloud(tmp_path, std, wrong):
    file = trained(Normalise(std=std), 0.25, tmp_path)
    known = {"noise": sc.Gaussian(0.25), "dataset": "cifar10"}
    card = sc.import_checkpoint(file, tmp_path / "m", family=wrong, **known)
    assert any("beware" in note for note in card.training["imported"]["notes"])


def test_other_noise_than_that_of_the_training_is_not_read_into_it(tmp_path):
    file = trained(Normalise(), 0.25, tmp_path)
    with pytest.raises(InvalidArgumentError, match="--family"):
        sc.import_checkpoint(file, tmp_path / "m", noise=sc.Gaussian(20.0), dataset="cifar10")
    with pytest.raises(InvalidArgumentError, match="--family"):
        sc.import_checkpoint(file, tmp_path / "m", noise=sc.DiscreteReplacement(0.8), dataset="cifar10")
