"""The cosine penalty (SOME, Fang et al.): the heads' parameters should point in different directions."""

from __future__ import annotations

from collections.abc import Iterable

from smoothcert.on_demand import nn, torch


def head_cosine(heads: Iterable[nn.Module]) -> torch.Tensor:
    """Return L_cos, the sum over pairs i < j of cos^2 between all parameters of two heads; with a graph.

    Not the paper's Eq. (3), whose denominator is not squared: that one grows with the weights and could be made
    small by shrinking them.

    Args:
        heads: networks of one architecture, so that their parameters correspond.
    """
    flat = torch.stack([torch.cat([weight.flatten() for weight in head.parameters()]) for head in heads])
    with torch.autocast(flat.device.type, enabled=False):  # bfloat16 would keep two digits of a product
        units = nn.functional.normalize(flat.float() if flat.dtype == torch.bfloat16 else flat, dim=1)
        cosines = units @ units.T
    return cosines.triu(diagonal=1).square().sum()
