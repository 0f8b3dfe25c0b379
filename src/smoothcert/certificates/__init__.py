"""Counts + bounds -> certificates: procedures, prediction, metrics."""

from smoothcert.certificates.certificate import Certificate, Tally
from smoothcert.certificates.certification import Certification, check_batch_size
from smoothcert.certificates.fixed_sample import FixedSample
from smoothcert.certificates.group_sequential import GroupSequential
from smoothcert.certificates.images import check_image
from smoothcert.certificates.loading import load_classifier, panel_classifier
from smoothcert.certificates.metrics import ACR_CAVEAT, Results
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.procedure import PROCEDURES, Plan, Procedure, Trial
from smoothcert.certificates.radii import named_radii, radius_grid, radius_key
from smoothcert.certificates.sequential import Sequential
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.certificates.staged import Staged
from smoothcert.certificates.subjects import check_subjects
from smoothcert.certificates.trained_for import TrainedFor, check_match

__all__ = [
    "ACR_CAVEAT",
    "PROCEDURES",
    "Certificate",
    "Certification",
    "FixedSample",
    "GroupSequential",
    "Outcome",
    "Plan",
    "Procedure",
    "Results",
    "Sequential",
    "SmoothedClassifier",
    "Staged",
    "Tally",
    "TrainedFor",
    "Trial",
    "check_batch_size",
    "check_image",
    "check_match",
    "check_subjects",
    "load_classifier",
    "named_radii",
    "panel_classifier",
    "radius_grid",
    "radius_key",
]
