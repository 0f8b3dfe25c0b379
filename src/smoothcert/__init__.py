"""Certified robustness by randomized smoothing: train, ensemble, certify, report.

import smoothcert as sc
classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=10)
certificate = classifier.certify(image)
"""

from importlib.metadata import version

from smoothcert import bounds, errors, theory
from smoothcert.certificates import (
    Certificate,
    FixedSample,
    GroupSequential,
    Outcome,
    Plan,
    Procedure,
    Results,
    Sequential,
    SmoothedClassifier,
    Staged,
    Tally,
    load_classifier,
)
from smoothcert.data import Dataset, load_dataset
from smoothcert.engines import Engine
from smoothcert.ensembles import (
    Adaptive,
    AdaptiveEnsemble,
    Consensus,
    ConsensusEnsemble,
    Panel,
    VotingEnsemble,
)
from smoothcert.folders import (
    EnsembleCard,
    ModelCard,
    import_model,
    load_model,
    make_ensemble,
    save_ensemble,
)
from smoothcert.networks import Denoised, MultiHead, create_model
from smoothcert.noise import DiscreteReplacement, Gaussian, GridGaussian, Laplace, NoiseLaw, Uniform
from smoothcert.report import write_report
from smoothcert.sampling import Counts
from smoothcert.store import AttackedImage, AttackResults, Attempt, Run
from smoothcert.training import Objective, Recipe, TrainConfig, fine_tune, load_recipe, train
from smoothcert.workflows import AuditReport, Finding, attack_images, audit, certify, certify_panel

__version__ = version("smoothcert")

__all__ = [
    "Adaptive",
    "AdaptiveEnsemble",
    "AttackResults",
    "AttackedImage",
    "Attempt",
    "AuditReport",
    "Certificate",
    "Consensus",
    "ConsensusEnsemble",
    "Counts",
    "Dataset",
    "Denoised",
    "DiscreteReplacement",
    "Engine",
    "EnsembleCard",
    "Finding",
    "FixedSample",
    "Gaussian",
    "GridGaussian",
    "GroupSequential",
    "Laplace",
    "ModelCard",
    "MultiHead",
    "NoiseLaw",
    "Objective",
    "Outcome",
    "Panel",
    "Plan",
    "Procedure",
    "Recipe",
    "Results",
    "Run",
    "Sequential",
    "SmoothedClassifier",
    "Staged",
    "Tally",
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
    "import_model",
    "load_classifier",
    "load_dataset",
    "load_model",
    "load_recipe",
    "make_ensemble",
    "save_ensemble",
    "theory",
    "train",
    "write_report",
]
