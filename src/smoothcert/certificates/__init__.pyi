from .certificate import Certificate, Tally, Verdict
from .certification import Certification
from .identity import ensemble_records, identities, is_settled
from .images import check_image
from .loading import load_classifier, panel_classifier
from .metrics import ACR_CAVEAT, Results
from .outcome import Outcome
from .panel_certification import PanelCertification
from .prediction import Prediction, PredictionPlan
from .procedure import (
    MOST_RADIUS,
    PROCEDURES,
    Plan,
    Procedure,
    check_list,
    check_radius,
    check_votes,
    reachable_threshold,
)
from .procedures.fixed import FixedSample
from .procedures.group import GroupSequential
from .procedures.sequential import MOST_RADII, Sequential
from .procedures.staged import Staged
from .reach import Note, Reach, Reading, reach_before
from .smoothed_classifier import SmoothedClassifier
from .subjects import check_images, check_subjects
from .trained_for import TrainedFor, check_match

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
    "Prediction",
    "PredictionPlan",
    "Procedure",
    "Reach",
    "Reading",
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
    "ensemble_records",
    "identities",
    "is_settled",
    "load_classifier",
    "panel_classifier",
    "reach_before",
    "reachable_threshold",
]
