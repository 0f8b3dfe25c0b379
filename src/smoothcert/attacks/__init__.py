"""Attacks: smoothed classifier + image -> an image close by on which it does worse."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
