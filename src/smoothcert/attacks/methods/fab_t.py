"""The targeted boundary attack, by itself."""

from __future__ import annotations

from smoothcert.attacks.chain import chained
from smoothcert.attacks.fab import FAB_T

METHOD = chained(FAB_T)
