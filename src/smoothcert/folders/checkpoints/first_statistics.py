"""What the first batch norm of a network tells of the images that it was trained on.

Its variances are those of the first convolution's answers. White noise of standard deviation sigma, divided by d where
images are divided by d, puts (sigma / d)^2 |w|^2 into the answer of a kernel w, whatever the images; images of standard
deviation s put in at most (s / d)^2 times the squared sum of |w|, which they reach where all pixels agree.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from smoothcert.folders.checkpoints.layout import Placed

_SLACK = 1.25  # borders without pixels, batches of a training
_MOST_VALUES = 2**20


def is_contradicted(
    found: Placed,
    tensors: Mapping[str, torch.Tensor],
    divided_by: Sequence[float],
    image_std: Sequence[float],
    sigma: float,
) -> bool:
    """Say whether most kernels of the first convolution cannot have seen images divided by these numbers.

    Not a proof of the contrary, which a training on other images could have made; False where the network has no such
    statistics.

    Args:
        found: which network it is.
        tensors: its weights, by the file's names.
        divided_by: per channel, or one for all.
        image_std: standard deviation of images, per channel, in pixel units.
        sigma: of the noise, in pixel units.
    """
    if found.statistics is None or any(name not in tensors for name in found.statistics):
        return False
    kernels, variances = (tensors[name] for name in found.statistics)
    fits = (
        kernels.dim() == 4
        and kernels.numel() <= _MOST_VALUES
        and kernels.shape[1] == len(image_std)
        and variances.shape == kernels.shape[:1]
    )
    if not fits:
        return False
    kernels, variances = kernels.double(), variances.double()
    scale = torch.tensor(divided_by, dtype=torch.float64).expand(len(image_std))
    noise = ((sigma / scale) ** 2 * kernels.pow(2).sum((2, 3))).sum(1)
    images = (torch.tensor(image_std, dtype=torch.float64) / scale * kernels.abs().sum((2, 3))).sum(1) ** 2
    outside = (variances < noise / _SLACK) | (variances > _SLACK * (noise + images))
    return bool(outside.double().mean() > 0.5)
