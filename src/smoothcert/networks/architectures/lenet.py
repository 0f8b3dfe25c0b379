"""LeNet, as the field certifies MNIST with it."""

from __future__ import annotations

from smoothcert.networks.architecture import Architecture
from smoothcert.networks.families.lenet import lenet

LENET = Architecture(
    summary="two 5x5 convolutions (20, 50) and a hidden layer of 500, for 28x28 images",
    input_shape=(1, 28, 28),
    build=lenet,
    least_side=16,
    figures={
        "stage1": (520, 288_000),
        "stage2": (25_050, 1_600_000),
        "stage3": (400_500, 400_000),
        "classifier": (5_010, 5_000),
    },
)
