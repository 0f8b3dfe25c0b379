from . import bounds, errors, theory
from .certificates import (
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
from .data import Dataset, load_dataset
from .engines import Engine
from .ensembles import (
    Adaptive,
    AdaptiveEnsemble,
    Consensus,
    ConsensusEnsemble,
    Panel,
    VotingEnsemble,
)
from .folders import EnsembleCard, ModelCard, import_checkpoint, load_model, make_ensemble, save_ensemble
from .networks import Denoised, MultiHead, create_model
from .noise import DiscreteReplacement, Gaussian, GridGaussian, Laplace, NoiseLaw, Uniform
from .report import write_report
from .sampling import Counts
from .store import AttackedImage, AttackResults, Attempt, Run
from .training import Objective, Recipe, TrainConfig, fine_tune, load_recipe, train
from .workflows import AuditReport, Finding, attack_images, audit, certify, certify_panel

__version__: str

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
    "import_checkpoint",
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
