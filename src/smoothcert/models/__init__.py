"""Models: image -> logits, their digests and their checkpoints."""

from smoothcert.models.alexnet import alexnet
from smoothcert.models.architecture import MODELS, Architecture
from smoothcert.models.card import ModelCard
from smoothcert.models.checkpoint import load_checkpoint, save_checkpoint
from smoothcert.models.cifar_resnet import cifar_resnet
from smoothcert.models.conv_net import ConvNet
from smoothcert.models.creation import create_model
from smoothcert.models.denoised import Denoised, refuse_shapes
from smoothcert.models.denoised_folder import denoise
from smoothcert.models.denoiser_listing import describe_denoiser
from smoothcert.models.densenet import densenet
from smoothcert.models.digest import weights_digest
from smoothcert.models.dncnn import DENOISERS, DnCNN
from smoothcert.models.flops import forward_flops
from smoothcert.models.imagenet_resnet import imagenet_resnet
from smoothcert.models.lenet import lenet
from smoothcert.models.listing import ModelDescription, describe_model, describe_models
from smoothcert.models.multi_head import MultiHead, multi_head
from smoothcert.models.normalize import Normalize
from smoothcert.models.splits import refuse_split, resolve_split
from smoothcert.models.stages import split_before, split_points, stages_of
from smoothcert.models.tensor_content import tensor_content
from smoothcert.models.vgg import vgg

__all__ = [
    "DENOISERS",
    "MODELS",
    "Architecture",
    "ConvNet",
    "Denoised",
    "DnCNN",
    "ModelCard",
    "ModelDescription",
    "MultiHead",
    "Normalize",
    "alexnet",
    "cifar_resnet",
    "create_model",
    "denoise",
    "densenet",
    "describe_denoiser",
    "describe_model",
    "describe_models",
    "forward_flops",
    "imagenet_resnet",
    "lenet",
    "load_checkpoint",
    "multi_head",
    "refuse_shapes",
    "refuse_split",
    "resolve_split",
    "save_checkpoint",
    "split_before",
    "split_points",
    "stages_of",
    "tensor_content",
    "vgg",
    "weights_digest",
]
