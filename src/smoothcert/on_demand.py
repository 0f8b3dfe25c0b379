"""Libraries that take long to import, loaded when something of them is first used.

`from smoothcert.on_demand import torch` in place of `import torch` keeps a file's import quick. Not for files whose
classes derive from a class of the library: these load it anyway, and import it as usual.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch as torch
    from scipy import special as special
    from torch import nn as nn
else:

    class _OnDemand:
        """Answers for a library and imports it when it is first asked for something."""

        def __init__(self, name: str) -> None:
            self.__name__ = name

        def __getattr__(self, name: str) -> Any:
            # Not remembered here: tests and users may exchange what a library holds.
            return getattr(import_module(self.__name__), name)

    torch = _OnDemand("torch")
    nn = _OnDemand("torch.nn")
    special = _OnDemand("scipy.special")
