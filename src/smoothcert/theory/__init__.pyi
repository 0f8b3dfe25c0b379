from .equal_inference import ExpectedRun, equal_inference, expected_run
from .first_stage import FirstStage, first_stage
from .log_probability_gap import LogProbabilityGaps, log_probability_gaps
from .member_covariance import MemberCovariance
from .member_logits import MemberEnsemble, MemberLogits, collect_member_logits
from .orthant import orthant_probability
from .per_input_study import NO_CERTIFICATE, PerInputStudy, study_per_input
from .radius_law import RadiusLaw, mean_radii, proven_radius, radius_law
from .robustness_index import (
    length,
    log_ball_volume,
    log_mean_volume,
    reaches,
    robustness_index,
)
from .study import PartStudy, VarianceStudy, study_ensemble, study_variance
from .success import (
    MarginLaw,
    Success,
    chebyshev_success,
    margin_laws,
    success_probabilities,
)
from .variance import CLEAN_PARTS, VarianceModel, fit_variance_model, variance_ratio
from .windows import ObservedRatios, ensemble_sizes, observed_ratios

__all__ = [
    "CLEAN_PARTS",
    "NO_CERTIFICATE",
    "ExpectedRun",
    "FirstStage",
    "LogProbabilityGaps",
    "MarginLaw",
    "MemberCovariance",
    "MemberEnsemble",
    "MemberLogits",
    "ObservedRatios",
    "PartStudy",
    "PerInputStudy",
    "RadiusLaw",
    "Success",
    "VarianceModel",
    "VarianceStudy",
    "chebyshev_success",
    "collect_member_logits",
    "ensemble_sizes",
    "equal_inference",
    "expected_run",
    "first_stage",
    "fit_variance_model",
    "length",
    "log_ball_volume",
    "log_mean_volume",
    "log_probability_gaps",
    "margin_laws",
    "mean_radii",
    "observed_ratios",
    "orthant_probability",
    "proven_radius",
    "radius_law",
    "reaches",
    "robustness_index",
    "study_ensemble",
    "study_per_input",
    "study_variance",
    "success_probabilities",
    "variance_ratio",
]
