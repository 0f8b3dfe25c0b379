"""Plain options: those that several commands share, and those that belong together as one argument."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
