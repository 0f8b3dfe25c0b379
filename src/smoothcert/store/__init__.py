"""Certificates -> a run folder that survives a crash; the field's TSV in and out."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
