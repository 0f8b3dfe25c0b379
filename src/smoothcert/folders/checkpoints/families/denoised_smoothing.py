"""Salman et al. 2020, denoised smoothing: denoisers, and classifiers that know no noise."""

from __future__ import annotations

from smoothcert.folders.checkpoints.family import Family, Normalisation

DENOISED_SMOOTHING = Family(
    summary="Salman et al. 2020 (microsoft/denoised-smoothing)",
    holder="state_dict",
    normalisation=Normalisation.STANDARDISED,
    denoises=True,
    aliases={
        "cifar_dncnn": "dncnn",
        "cifar_dncnn_wide": "dncnn-wide",
        "imagenet_dncnn": "dncnn",
        "cifar_resnet110": "resnet110",
        "imagenet32_resnet110": "resnet110",
        "VGG16": "vgg16",
        "VGG19": "vgg19",
    },
)
