"""Auto-PGD on the cross entropy, by itself."""

from __future__ import annotations

from smoothcert.attacks.apgd import APGD_CE
from smoothcert.attacks.chain import chained

METHOD = chained(APGD_CE)
