from .execution import Execution, chosen_execution
from .forecast import TRIAL_SECONDS, Forecast, forecast, simulate_runs
from .heartbeat import Heartbeat
from .limit import Limit
from .local_execution import LocalExecution
from .pilot import Pilot, deepened, first_votes
from .preview import Cost, Rival, find_rivals, guiding_plan, preview
from .ray_execution import RayExecution, is_address
from .run_preview import RunPreview
from .runner import ImageSource, certify_images, certify_in_memory
from .sink import Sink
from .trial import Speed, Trial

__all__ = [
    "TRIAL_SECONDS",
    "Cost",
    "Execution",
    "Forecast",
    "Heartbeat",
    "ImageSource",
    "Limit",
    "LocalExecution",
    "Pilot",
    "RayExecution",
    "Rival",
    "RunPreview",
    "Sink",
    "Speed",
    "Trial",
    "certify_images",
    "certify_in_memory",
    "chosen_execution",
    "deepened",
    "find_rivals",
    "first_votes",
    "forecast",
    "guiding_plan",
    "is_address",
    "preview",
    "simulate_runs",
]
