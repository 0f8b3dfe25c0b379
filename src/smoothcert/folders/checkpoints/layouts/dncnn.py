"""DnCNN as denoised smoothing has it: one sequence dncnn.0, dncnn.2, .."""

from __future__ import annotations

from smoothcert.folders.checkpoints.layout import Entries, Layout, Placed, by_rules, renamed
from smoothcert.networks import DENOISERS, DnCNN

_EPSILON = 1e-4  # of its batch norms; in no file
_OURS = 1e-5


def _place(entries: Entries) -> Placed:
    """Tell depth and width by the convolutions; a size without a name of its own goes by the first one's."""
    kernels = [shape for _, shape in entries.values() if len(shape) == 4]
    size = len(kernels), entries["dncnn.0.weight"][1][0]
    named = [name for name in DENOISERS if (DENOISERS[name].depth, DENOISERS[name].width) == size]
    return Placed(
        architecture=named[0] if named else DnCNN.__name__.lower(),
        names=renamed(entries, by_rules([(r"dncnn\.(\d+)", r"noise.\1")])),
        first="dncnn.0.weight",
        last=None,
        size=size,
        variance_offset=_EPSILON - _OURS,
    )


DNCNN = Layout(summary="DnCNN denoiser (dncnn.0, dncnn.2, ..)", mark=r"dncnn\.0\.weight", place=_place)
