"""Statistics of a network choose no normalisation: they depend on a noise that a file does not tell."""

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


LAYERS = pytest.mark.parametrize("std", [CIFAR_STD, None], ids=["standardised", "centred"])


@LAYERS
@pytest.mark.parametrize("learnt", [0.0, 0.12, 0.25, 1.0])
@pytest.mark.parametrize("said", [0.12, 0.25, 1.0])
def test_no_variances_choose_between_families(tmp_path, std, learnt, said):
    file = trained(Normalise(std=std), learnt, tmp_path)
    with pytest.raises(InvalidArgumentError) as refused:
        sc.import_checkpoint(file, tmp_path / "m", noise=sc.Gaussian(said), dataset="cifar10")
    for words in (
        "cohen, consistency, ",
        ": mean and std of the data set; ",
        "smoothadv: the data set's mean, without a std",
        "--family NAME",
    ):
        assert words in str(refused.value)
    assert not (tmp_path / "m").exists()


@LAYERS
@pytest.mark.parametrize("learnt", [0.0, 0.25, 1.0])
def test_a_right_family_is_not_doubted_whatever_the_noise_of_the_training(tmp_path, std, learnt):
    file = trained(Normalise(std=std), learnt, tmp_path)
    family = "smoothadv" if std is None else "cohen"
    card = sc.import_checkpoint(
        file, tmp_path / "m", noise=sc.Gaussian(0.25), dataset="cifar10", family=family
    )
    assert card.std == ((1.0,) if std is None else CIFAR_STD)
    record = card.training["imported"]
    assert record["normalisation"] == "the data set's, as the family has it"
    assert not any("beware" in note for note in record["notes"])


def test_numbers_that_are_said_name_the_families_that_have_them(tmp_path):
    file = trained(Normalise(), 0.25, tmp_path)
    told = {"mean": CIFAR_MEAN, "std": CIFAR_STD, "dataset": "cifar10"}
    card = sc.import_checkpoint(file, tmp_path / "m", noise=sc.Gaussian(0.25), **told)
    families = card.training["imported"]["families"]
    assert "cohen" in families
    assert "smoothadv" not in families
