"""Certified robustness by randomized smoothing: train, ensemble, certify, report.

import smoothcert as sc
classifier = sc.SmoothedClassifier(model, noise=sc.Gaussian(0.25), num_classes=10)
certificate = classifier.certify(image)
"""

from importlib.metadata import version

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
__version__ = version("smoothcert")
