from .architecture import MODELS, Architecture
from .composite import (
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
from .creation import create_model
from .denoised import Denoised, denoised_of, refuse_shapes
from .denoiser_description import describe_denoiser
from .denoiser_size import DENOISERS
from .descriptions import ModelDescription, describe_model, describe_models, is_border
from .dncnn import DnCNN
from .flops import forward_flops
from .head_splits import refuse_split, resolve_split
from .limits import MOST_DEPTH, MOST_HEADS, MOST_WIDTH, checked_classes, checked_shape
from .multi_head import MultiHead, multi_head, multi_head_of, one_headed
from .normalize import Normalize, normalisation_of, with_normalisation
from .onnx_files.graph import OnnxGraph
from .onnx_files.network import OnnxNetwork, holds_onnx, onnx_of
from .onnx_files.openvino_graph import OpenvinoGraph, imported_openvino
from .onnx_files.quantized import (
    BFLOAT16,
    INT8,
    PRECISIONS,
    Probe,
    QuantizedNetwork,
    precision_of,
    quantized_parts,
)
from .onnx_files.session import onnx_session, runtime_reason
from .own_code.fingerprint import Fingerprint, code_fingerprint, kept_fingerprint
from .own_code.installed import is_installed_module
from .own_code.known_code import is_understood, runs_known_code, why_intercepted, why_not_understood
from .own_code.user_code import held_modules
from .padding import MIN_ROWS, padded
from .reading.answers import answer_of, as_logits, same_places
from .reading.arrays import is_of_numbers, told
from .reading.estimator import as_model
from .size import multiply_adds_of, parameters_of
from .stages import split_before, split_points, stages_of
from .train_mode import part_in_train_mode, refuse_training_mode
from .weights_digest import tensor_content, weights_digest

__all__ = [
    "BFLOAT16",
    "DENOISERS",
    "INT8",
    "MIN_ROWS",
    "MODELS",
    "MOST_DEPTH",
    "MOST_HEADS",
    "MOST_WIDTH",
    "PRECISIONS",
    "Architecture",
    "Composite",
    "Denoised",
    "DnCNN",
    "Fingerprint",
    "ModelDescription",
    "MultiHead",
    "Normalize",
    "OnnxGraph",
    "OnnxNetwork",
    "OpenvinoGraph",
    "Probe",
    "QuantizedNetwork",
    "Run",
    "WholeParts",
    "answer_of",
    "as_logits",
    "as_model",
    "checked_classes",
    "checked_shape",
    "classifiers_of",
    "code_fingerprint",
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
    "held_modules",
    "holds_onnx",
    "imported_openvino",
    "is_border",
    "is_installed_module",
    "is_of_numbers",
    "is_understood",
    "kept_fingerprint",
    "model_digest",
    "multi_head",
    "multi_head_of",
    "multiply_adds_of",
    "normalisation_of",
    "one_headed",
    "onnx_of",
    "onnx_session",
    "packages_of",
    "padded",
    "parameters_of",
    "part_in_train_mode",
    "precision_of",
    "quantized_parts",
    "refuse_shapes",
    "refuse_split",
    "refuse_training_mode",
    "resolve_split",
    "runs_known_code",
    "runtime_reason",
    "same_places",
    "split_before",
    "split_points",
    "stages_of",
    "stored_part",
    "surrogate_of",
    "tensor_content",
    "told",
    "weights_digest",
    "whole_parts",
    "why_intercepted",
    "why_not_understood",
    "with_normalisation",
]
