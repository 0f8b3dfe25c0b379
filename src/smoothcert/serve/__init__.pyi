from .keys import ApiKeys
from .limits import Limits
from .server import Options, log_to_standard_error, serve

__all__ = ["ApiKeys", "Limits", "Options", "log_to_standard_error", "serve"]
