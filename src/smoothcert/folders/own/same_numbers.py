"""Whether a network holds the very numbers of a weights file: torch converts what does not fit, and says nothing."""

from __future__ import annotations

from smoothcert.on_demand import torch


def value_fault(given: torch.Tensor, wanted: torch.Tensor) -> str | None:
    """Say why a tensor cannot be put into another without changing its numbers; None where it can.

    Floats of other widths can where the numbers stay the same, as all of 16 bits do in 32; all else needs the very
    type. Not a look at shapes.

    Args:
        given: of the file.
        wanted: of the module.
    """
    kind, own = _name(given.dtype), _name(wanted.dtype)
    if given.layout != torch.strided or given.is_quantized:
        layout = kind if given.is_quantized else _name(given.layout)
        return f"is {layout}, where a plain tensor of {own} is needed (save it with .to_dense() or .dequantize())"
    if given.is_meta:
        return "has no numbers (it is on the meta device)"
    if given.dtype == wanted.dtype:
        return None
    if not (given.is_floating_point() and wanted.is_floating_point()):
        return f"is {kind}, not {own}"
    if not same_numbers(given, given.to(wanted.dtype)):
        return f"is {kind}, which {own} does not hold exactly (save it as {own})"
    return None


def same_numbers(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Say whether two plain tensors of one shape hold the same numbers, in whatever type; NaN is the same as NaN.

    Args:
        one: of real floats, or of the other's very type.
        other: likewise.
    """
    if one.shape != other.shape:
        return False
    if one.is_floating_point() and other.is_floating_point():
        # 64 bits hold every number of the narrower types, some of which cannot be compared themselves.
        one, other = one.double(), other.double()
    elif one.dtype != other.dtype:
        return False
    return bool(((one == other) | ((one != one) & (other != other))).all())


def _name(kind: torch.dtype | torch.layout) -> str:
    return str(kind).removeprefix("torch.")
