"""What was understood of a model, in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from smoothcert.noise import in_words

_WIDTH = 16
_KINDS = {"onnx": "ONNX file", "factory": "built by a factory", "folder": "model folder"}


def describe_lines(told: Mapping[str, Any], title: str) -> Iterator[str]:
    """Yield one line per fact, warnings last.

    Args:
        told: a `Description` as plain values.
        title: what was asked for, as it was typed.
    """
    noise = {name: value for name, value in told["noise"].items() if name != "name"}
    rows = {
        "model": title,
        "kind": f"{_KINDS.get(told['kind'], told['kind'])}, {told['network']}",
        "classes": told["num_classes"],
        "input shape": " x ".join(map(str, told["input_shape"])),
        "normalisation": _normalisation(told),
        "parameters": _count(told["parameters"]),
        "multiply-adds": _count(told["multiply_adds"]),
        "trained on": ", ".join(told["trained_on"]) or "not told",
        "noise": f"{told['noise']['name']} {in_words(noise)}",
        "identity": told["identity"],
        "engine (auto)": f"{told['engine']} ({told['engine_reason']})",
        "precision": told["precision"] or "the model's own (float32 in networks of this package)",
        "processor": _processor(told["processor"]),
        "answers": f"{_answers(told['answers'])} (64 noisy copies of {told['image']}; no certificate)",
    }
    for name, value in rows.items():
        yield f"{name:<{_WIDTH}}{value}"
    for line in told["warnings"]:
        yield f"{'warning':<{_WIDTH}}{line}"


def _normalisation(told: Mapping[str, Any]) -> str:
    if told["mean"] is None:
        return "none in front of the whole, which gets pixels from 0 to 1"
    return f"mean {_few(told['mean'])}, std {_few(told['std'])}"


def _processor(processor: Mapping[str, bool | None]) -> str:
    words = {None: "not known", True: "yes", False: "no"}
    return ", ".join(f"{name} {words[known]}" for name, known in processor.items()) + " (own instructions)"


def _few(values: Any) -> str:
    return ",".join(f"{value:.4g}" for value in values)


def _count(number: int | None) -> str:
    return "not known" if number is None else f"{number:,}"


def _answers(answers: Any) -> str:
    return ", ".join(f"{name} {share:.0%}" for name, share in answers) or "none"
