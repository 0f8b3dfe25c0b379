"""Ensemble outputs -> the variance model, predicted success probability and radius."""

from smoothcert.theory.equal_inference import ExpectedRun, equal_inference, expected_run
from smoothcert.theory.first_stage import FirstStage, first_stage
from smoothcert.theory.member_covariance import MemberCovariance
from smoothcert.theory.member_logits import MemberEnsemble, MemberLogits, collect_member_logits
from smoothcert.theory.orthant import orthant_probability
from smoothcert.theory.per_input_study import NO_CERTIFICATE, PerInputStudy, study_per_input
from smoothcert.theory.radius_law import RadiusLaw, mean_radii, proven_radius, radius_law
from smoothcert.theory.robustness_index import (
    length,
    log_ball_volume,
    log_mean_volume,
    reaches,
    robustness_index,
)
from smoothcert.theory.study import PartStudy, VarianceStudy, study_ensemble, study_variance
from smoothcert.theory.success import (
    MarginLaw,
    Success,
    chebyshev_success,
    margin_laws,
    success_probabilities,
)
from smoothcert.theory.variance import CLEAN_PARTS, VarianceModel, fit_variance_model, variance_ratio
from smoothcert.theory.windows import ObservedRatios, ensemble_sizes, observed_ratios

__all__ = [
    "CLEAN_PARTS",
    "NO_CERTIFICATE",
    "ExpectedRun",
    "FirstStage",
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
