"""Whole jobs made of the rooms above: certify a data set, audit, attack, sweep, demo."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
