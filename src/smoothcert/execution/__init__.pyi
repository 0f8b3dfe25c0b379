from .forecast import TRIAL_SECONDS, Forecast, forecast, simulate_runs
from .heartbeat import Heartbeat
from .limit import Limit
from .pilot import Pilot, deepened, first_votes
from .preview import Cost, Rival, find_rivals, guiding_plan, preview
from .run_preview import RunPreview
from .runner import ImageSource, Sink, certify_images, certify_in_memory
from .trial import Speed, Trial

__all__ = [
    "TRIAL_SECONDS",
    "Cost",
    "Forecast",
    "Heartbeat",
    "ImageSource",
    "Limit",
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
