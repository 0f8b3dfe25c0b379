"""Models: image -> logits, their digests and their checkpoints."""

from smoothcert.models.architecture import MODELS, Architecture, create_model
from smoothcert.models.card import ModelCard
from smoothcert.models.checkpoint import load_checkpoint, save_checkpoint
from smoothcert.models.cifar_resnet import cifar_resnet
from smoothcert.models.conv_net import ConvNet
from smoothcert.models.digest import weights_digest
from smoothcert.models.flops import forward_flops
from smoothcert.models.lenet import lenet
from smoothcert.models.normalize import Normalize

__all__ = [
    "MODELS",
    "Architecture",
    "ConvNet",
    "ModelCard",
    "Normalize",
    "cifar_resnet",
    "create_model",
    "forward_flops",
    "lenet",
    "load_checkpoint",
    "save_checkpoint",
    "weights_digest",
]
