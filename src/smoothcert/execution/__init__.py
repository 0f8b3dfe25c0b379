"""Many images -> certificates, on threads of this machine."""

from smoothcert.execution.preview import Calibration, Cost, calibrate, expected_votes, preview
from smoothcert.execution.progress import Progress, progress
from smoothcert.execution.runner import ImageSource, Sink, certify_images

__all__ = [
    "Calibration",
    "Cost",
    "ImageSource",
    "Progress",
    "Sink",
    "calibrate",
    "certify_images",
    "expected_votes",
    "preview",
    "progress",
]
