"""Make the pieces of evidence that are not there yet: `make evidence`, or `make evidence ONLY=name` to make again."""

from __future__ import annotations

import sys
import time
from importlib import import_module

from evidence.record import FOLDER

PIECES = (
    "expected_votes",
    "guarantee",
    "demo_figures",
    "p_a_mnist_lenet",
    "p_a_cifar10_resnet110",
    "digits_methods",
    "mnist_methods",
    "ensembles",
    "mixing",
    "esbrs_weighing",
    "some",
    "some_digits",
    "denoisers",
    "attacks",
    "norms",
    "many_images",
    "killed_cluster",
    "int8_price",
    "end_to_end",
)


def main(only: str | None) -> None:
    """Make one piece again, or all that are missing; each finished piece stays if a later one is stopped."""
    if only is not None and only not in PIECES:
        sys.exit(f"unknown piece {only!r}; known: {', '.join(PIECES)}")
    for name in PIECES:
        if name == only or (only is None and not (FOLDER / f"{name}.json").exists()):
            start = time.monotonic()
            print(f"making {name}", flush=True)
            import_module(f"evidence.{name}").make()
            print(f"evidence/{name}.json after {time.monotonic() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 and sys.argv[1] else None)
