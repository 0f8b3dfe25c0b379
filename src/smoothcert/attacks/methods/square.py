"""The Square attack, by itself."""

from __future__ import annotations

from smoothcert.attacks.chain import chained
from smoothcert.attacks.square import SQUARE

METHOD = chained(SQUARE)
