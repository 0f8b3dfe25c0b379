"""What is said about a network that was quantised."""

from __future__ import annotations

from smoothcert import folders


def quantized_sentence(name: str, entry: folders.QuantizedEntry) -> str:
    """Return what was made of a network and what it cost, in a line.

    Args:
        name: of the network.
        entry: of its card.
    """
    parts = [f"{name} in {entry.precision}"]
    if entry.chosen is not None:
        floats = " and ".join(entry.chosen.float_layers)
        parts.append(
            f"biases {entry.chosen.bias}, ranges of {entry.chosen.ranges} values"
            + (f", {floats} layer in float32" if floats else "")
            + (", weights of 7 bits" if entry.seven_bits else "")
        )
    parts.append(
        f"right on {entry.accuracy_after:.2%} of noisy hold-out images ({entry.accuracy_before:.2%} in float32), alike "
        f"on {entry.agreement:.2%}"
    )
    speeds = ", ".join(f"{engine} {cost:.0f} us" for engine, cost in entry.microseconds.items())
    parts.append(f"a vote on one core: {speeds}")
    return "; ".join(parts)
