"""Networks: image -> logits; denoisers, several heads, stages, and the price of a pass."""

from smoothcert.networks.alexnet import alexnet
from smoothcert.networks.architecture import MODELS, Architecture
from smoothcert.networks.cifar_resnet import cifar_resnet
from smoothcert.networks.conv_net import ConvNet
from smoothcert.networks.creation import create_model
from smoothcert.networks.denoised import Denoised, refuse_shapes
from smoothcert.networks.denoiser_description import describe_denoiser
from smoothcert.networks.densenet import densenet
from smoothcert.networks.descriptions import ModelDescription, describe_model, describe_models
from smoothcert.networks.dncnn import DENOISERS, DnCNN
from smoothcert.networks.flops import forward_flops
from smoothcert.networks.head_splits import refuse_split, resolve_split
from smoothcert.networks.imagenet_resnet import imagenet_resnet
from smoothcert.networks.lenet import lenet
from smoothcert.networks.limits import MOST_DEPTH, MOST_HEADS, MOST_WIDTH, checked_classes, checked_shape
from smoothcert.networks.multi_head import MultiHead, multi_head, one_headed
from smoothcert.networks.normalize import Normalize
from smoothcert.networks.padding import MIN_ROWS, padded
from smoothcert.networks.stages import split_before, split_points, stages_of
from smoothcert.networks.tensor_content import tensor_content
from smoothcert.networks.train_mode import part_in_train_mode, refuse_training_mode
from smoothcert.networks.vgg import vgg
from smoothcert.networks.weights_digest import weights_digest

__all__ = [
    "DENOISERS",
    "MIN_ROWS",
    "MODELS",
    "MOST_DEPTH",
    "MOST_HEADS",
    "MOST_WIDTH",
    "Architecture",
    "ConvNet",
    "Denoised",
    "DnCNN",
    "ModelDescription",
    "MultiHead",
    "Normalize",
    "alexnet",
    "checked_classes",
    "checked_shape",
    "cifar_resnet",
    "create_model",
    "densenet",
    "describe_denoiser",
    "describe_model",
    "describe_models",
    "forward_flops",
    "imagenet_resnet",
    "lenet",
    "multi_head",
    "one_headed",
    "padded",
    "part_in_train_mode",
    "refuse_shapes",
    "refuse_split",
    "refuse_training_mode",
    "resolve_split",
    "split_before",
    "split_points",
    "stages_of",
    "tensor_content",
    "vgg",
    "weights_digest",
]
