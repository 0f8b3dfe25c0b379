"""Named errors: each says which rule was broken, by which value, and how to fix it.

Every error a user can cause derives from `SmoothcertError`; the command line turns those into one sentence
and exit code 2. Anything else that escapes is a defect of this package.
"""

from __future__ import annotations


class SmoothcertError(Exception):
    """Base of all errors that a user's input or surroundings can cause."""


class InvalidArgumentError(SmoothcertError, ValueError):
    """An argument lies outside the values it may take."""


class UnknownNameError(SmoothcertError, LookupError):
    """A name is not in its registry; the message lists the known ones."""


class InvalidImageError(SmoothcertError, ValueError):
    """An image has NaN, values outside [0,1], or a shape the model does not take."""


class UnsoundModelError(SmoothcertError, ValueError):
    """A model is not a fixed function of one noisy image, so no certificate about it would be true."""


class ModelOutputError(SmoothcertError, ValueError):
    """A model answered with the wrong shape, or with NaN or infinite logits."""


class EngineDisagreementError(SmoothcertError, RuntimeError):
    """An engine answers otherwise than the model it was made from, on images of the run itself."""


class WorkerError(SmoothcertError, RuntimeError):
    """A worker process died, hangs, or raised an error that cannot leave the process."""


class ModelRaisedError(WorkerError):
    """A model raised, in a worker process, an error of its own kind, which cannot leave that process.

    Args:
        raised: name and text of that error.
    """

    def __init__(self, raised: str) -> None:
        super().__init__(raised)
        self.raised = raised

    def __str__(self) -> str:
        return f"the model raised {self.raised}; fix the model"


class DataError(SmoothcertError):
    """A data set is missing, cut short or of the wrong format."""


class CheckpointError(SmoothcertError):
    """A model folder is missing a part, is damaged, or its weights do not match their digest."""


class ModuleNeededError(CheckpointError):
    """A model folder's network is code of the user's own, which nothing runs unless the user hands it in."""


class FactoryError(SmoothcertError):
    """A user's own factory cannot be imported, raised an error, or built no model."""


class StoreError(SmoothcertError):
    """A run folder cannot be read or written."""


class DamagedRunError(StoreError):
    """A run's database is no database, is cut short, or holds what no run holds."""


class ManifestMismatchError(StoreError):
    """A run cannot be resumed because something that decides its votes has changed."""


class FormatError(SmoothcertError, ValueError):
    """A file's content breaks its format; the message names the line."""
