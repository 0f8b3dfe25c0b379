"""AutoAttack (Croce and Hein 2020): its four searches with the published budgets; fewer must not be called so."""

from __future__ import annotations

from smoothcert.attacks.apgd import APGD_CE, APGD_T
from smoothcert.attacks.chain import chained
from smoothcert.attacks.fab import FAB_T
from smoothcert.attacks.square import SQUARE

AUTOATTACK = chained(APGD_CE, APGD_T, FAB_T, SQUARE)
