"""Networks: image -> logits; denoisers, several heads, stages, and the price of a pass."""

from smoothcert.networks.architecture import MODELS, Architecture
from smoothcert.networks.composite import (
    Composite,
    Run,
    WholeParts,
    classifiers_of,
    counted,
    digest_of_parts,
    evaluations_of,
    exits_early,
    model_digest,
    packages_of,
    stored_part,
    surrogate_of,
    whole_parts,
)
from smoothcert.networks.creation import create_model
from smoothcert.networks.denoised import Denoised, denoised_of, refuse_shapes
from smoothcert.networks.denoiser_description import describe_denoiser
from smoothcert.networks.descriptions import ModelDescription, describe_model, describe_models
from smoothcert.networks.dncnn import DENOISERS, DnCNN
from smoothcert.networks.flops import forward_flops
from smoothcert.networks.head_splits import refuse_split, resolve_split
from smoothcert.networks.limits import MOST_DEPTH, MOST_HEADS, MOST_WIDTH, checked_classes, checked_shape
from smoothcert.networks.multi_head import MultiHead, multi_head, multi_head_of, one_headed
from smoothcert.networks.onnx_graph import OnnxGraph
from smoothcert.networks.onnx_network import OnnxNetwork, holds_onnx, onnx_of
from smoothcert.networks.onnx_session import onnx_session, runtime_reason
from smoothcert.networks.normalize import Normalize, with_normalisation
from smoothcert.networks.padding import MIN_ROWS, padded
from smoothcert.networks.stages import split_before, split_points, stages_of
from smoothcert.networks.tensor_content import tensor_content
from smoothcert.networks.train_mode import part_in_train_mode, refuse_training_mode
from smoothcert.networks.weights_digest import weights_digest

__all__ = [
    "DENOISERS",
    "MIN_ROWS",
    "MODELS",
    "MOST_DEPTH",
    "MOST_HEADS",
    "MOST_WIDTH",
    "Architecture",
    "Composite",
    "Denoised",
    "DnCNN",
    "ModelDescription",
    "MultiHead",
    "Normalize",
    "OnnxGraph",
    "OnnxNetwork",
    "Run",
    "WholeParts",
    "checked_classes",
    "checked_shape",
    "classifiers_of",
    "counted",
    "create_model",
    "denoised_of",
    "describe_denoiser",
    "describe_model",
    "describe_models",
    "digest_of_parts",
    "evaluations_of",
    "exits_early",
    "forward_flops",
    "holds_onnx",
    "model_digest",
    "multi_head",
    "multi_head_of",
    "one_headed",
    "onnx_of",
    "onnx_session",
    "packages_of",
    "padded",
    "part_in_train_mode",
    "refuse_shapes",
    "refuse_split",
    "refuse_training_mode",
    "resolve_split",
    "runtime_reason",
    "split_before",
    "split_points",
    "stages_of",
    "stored_part",
    "surrogate_of",
    "tensor_content",
    "weights_digest",
    "whole_parts",
    "with_normalisation",
]
