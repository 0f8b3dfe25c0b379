"""Many images -> certificates, on threads of this machine."""

from smoothcert.execution.progress import Progress, progress
from smoothcert.execution.runner import ImageSource, Sink, certify_images

__all__ = ["ImageSource", "Progress", "Sink", "certify_images", "progress"]
