"""Counts + bounds -> certificates: procedures, prediction, metrics."""

from smoothcert.certificates.certificate import Certificate, Tally, Verdict
from smoothcert.certificates.certification import Certification
from smoothcert.certificates.identity import code_fingerprint, identities, is_settled
from smoothcert.certificates.images import check_image
from smoothcert.certificates.loading import load_classifier, panel_classifier
from smoothcert.certificates.metrics import ACR_CAVEAT, Results
from smoothcert.certificates.outcome import Outcome
from smoothcert.certificates.panel_certification import PanelCertification
from smoothcert.certificates.procedure import (
    MOST_RADIUS,
    PROCEDURES,
    Plan,
    Procedure,
    check_list,
    check_radius,
    check_votes,
    reachable_threshold,
)
from smoothcert.certificates.procedures.fixed import FixedSample
from smoothcert.certificates.procedures.group import GroupSequential
from smoothcert.certificates.procedures.sequential import MOST_RADII, Sequential
from smoothcert.certificates.procedures.staged import Staged
from smoothcert.certificates.reach import Note, Reach, warn_out_of_reach
from smoothcert.certificates.smoothed_classifier import SmoothedClassifier
from smoothcert.certificates.subjects import check_images, check_subjects
from smoothcert.certificates.trained_for import TrainedFor, check_match

__all__ = [
    "ACR_CAVEAT",
    "MOST_RADII",
    "MOST_RADIUS",
    "PROCEDURES",
    "Certificate",
    "Certification",
    "FixedSample",
    "GroupSequential",
    "Note",
    "Outcome",
    "PanelCertification",
    "Plan",
    "Procedure",
    "Reach",
    "Results",
    "Sequential",
    "SmoothedClassifier",
    "Staged",
    "Tally",
    "TrainedFor",
    "Verdict",
    "check_image",
    "check_images",
    "check_list",
    "check_match",
    "check_radius",
    "check_subjects",
    "check_votes",
    "code_fingerprint",
    "identities",
    "is_settled",
    "load_classifier",
    "panel_classifier",
    "reachable_threshold",
    "warn_out_of_reach",
]
