"""Many images -> certificates, on threads of this machine."""

from smoothcert.execution.forecast import Forecast, forecast, simulate_runs
from smoothcert.execution.pilot import Pilot, deepened, first_votes
from smoothcert.execution.preview import Cost, Rival, find_rivals, guiding_plan, preview
from smoothcert.execution.run_preview import RunPreview
from smoothcert.execution.runner import ImageSource, Sink, certify_images, certify_in_memory
from smoothcert.execution.trial import Speed, Trial

__all__ = [
    "Cost",
    "Forecast",
    "ImageSource",
    "Pilot",
    "Rival",
    "RunPreview",
    "Sink",
    "Speed",
    "Trial",
    "certify_images",
    "certify_in_memory",
    "deepened",
    "find_rivals",
    "first_votes",
    "forecast",
    "guiding_plan",
    "preview",
    "simulate_runs",
]
