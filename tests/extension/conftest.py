"""What the tests of several kinds of members share."""

import pytest
import torch

import smoothcert as sc
from smoothcert.folders import ModelCard, save_checkpoint


@pytest.fixture(scope="session")
def digit_models(tmp_path_factory):
    """Folders of three small networks for digits, with random weights."""
    home = tmp_path_factory.mktemp("models")
    digits = sc.load_dataset("digits")
    for seed in range(3):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = sc.create_model("convnet", num_classes=10, input_shape=(1, 8, 8))
        card = ModelCard(
            architecture="convnet",
            num_classes=10,
            input_shape=(1, 8, 8),
            mean=(0.0,),
            std=(1.0,),
            method="gaussian",
            noise=sc.Gaussian(0.25).describe(),
            dataset={"name": "digits", "digest": digits.digest},
            training={"seed": seed},
            metrics={},
            class_names=digits.class_names,
        )
        save_checkpoint(model, card, home / f"member-{seed}")
    return [home / f"member-{seed}" for seed in range(3)]
