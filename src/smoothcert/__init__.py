"""Certified robustness by randomized smoothing: train, ensemble, certify, report.

import smoothcert as sc
classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=10)
certificate = classifier.certify(image)
"""

from importlib.metadata import version

from smoothcert import bounds, errors
from smoothcert.certificates import (
    Certificate,
    FixedSample,
    GroupSequential,
    Outcome,
    Sequential,
    SmoothedClassifier,
    Staged,
    load_classifier,
)
from smoothcert.data import Dataset, load_dataset
from smoothcert.ensembles import (
    Adaptive,
    AdaptiveEnsemble,
    Consensus,
    ConsensusEnsemble,
    Panel,
    VotingEnsemble,
)
from smoothcert.folders import load_model, make_ensemble, save_ensemble
from smoothcert.networks import Denoised, MultiHead, create_model
from smoothcert.noise import DiscreteReplacement, Gaussian, GridGaussian, Laplace, Uniform
from smoothcert.report import write_report
from smoothcert.sampling import Counts
from smoothcert.store import Run
from smoothcert.training import TrainConfig, fine_tune, load_recipe, train
from smoothcert.workflows import attack_images, audit, certify, certify_panel

__version__ = version("smoothcert")

__all__ = [
    "Adaptive",
    "AdaptiveEnsemble",
    "Certificate",
    "Consensus",
    "ConsensusEnsemble",
    "Counts",
    "Dataset",
    "Denoised",
    "DiscreteReplacement",
    "FixedSample",
    "Gaussian",
    "GridGaussian",
    "GroupSequential",
    "Laplace",
    "MultiHead",
    "Outcome",
    "Panel",
    "Run",
    "Sequential",
    "SmoothedClassifier",
    "Staged",
    "TrainConfig",
    "Uniform",
    "VotingEnsemble",
    "attack_images",
    "audit",
    "bounds",
    "certify",
    "certify_panel",
    "create_model",
    "errors",
    "fine_tune",
    "load_classifier",
    "load_dataset",
    "load_model",
    "load_recipe",
    "make_ensemble",
    "save_ensemble",
    "train",
    "write_report",
]
