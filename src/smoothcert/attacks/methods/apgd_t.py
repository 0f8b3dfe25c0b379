"""Targeted Auto-PGD on the DLR loss, by itself."""

from __future__ import annotations

from smoothcert.attacks.apgd import APGD_T
from smoothcert.attacks.chain import chained

METHOD = chained(APGD_T)
