"""What is said about a network that was quantised."""

from __future__ import annotations

from smoothcert import folders


def other_rounding(card: folders.ModelCard) -> str | None:
    """Return a line about a network that was trained for other rounded weights than it was given; None for no such.

    Args:
        card: of a quantised network, which keeps the training of its original.
    """
    trained = card.training.get("rounding")
    if card.quantized is None or card.quantized.precision != "int8" or trained is None:
        return None
    made = "seven-bits" if card.quantized.seven_bits else "int8"
    if made == trained:
        return None
    return (
        f"warning: {card.architecture} was trained with rounding={trained}, but its weights are rounded as by "
        f"rounding={made}; train with that, or quantise with {'--seven-bits' if trained != 'int8' else '--eight-bits'}"
    )


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
