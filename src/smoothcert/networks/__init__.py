"""Networks: image -> logits; denoisers, several heads, stages, and the price of a pass."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
