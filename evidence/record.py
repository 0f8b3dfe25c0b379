"""One piece of evidence: figures with all that is needed to make them again."""

from __future__ import annotations

import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

from smoothcert.atomic import write_atomically

FOLDER = Path(__file__).parent
PACKAGES = ("smoothcert", "torch", "numpy", "scipy")


def record(name: str, *, about: str, seed: int | None, interval: str, figures: Any) -> None:
    """Write `evidence/NAME.json`.

    Args:
        name: of the piece and of its module.
        about: what the figures show, in one sentence.
        seed: seed of all randomness; None where nothing is random.
        interval: how uncertainty is stated, or that the figures are exact.
        figures: plain values.
    """
    content = {
        "name": name,
        "about": about,
        "command": f"make evidence ONLY={name}",
        "seed": seed,
        "interval": interval,
        "versions": {
            "python": platform.python_version(),
            **{package: version(package) for package in PACKAGES},
        },
        "figures": figures,
    }
    write_atomically(FOLDER / f"{name}.json", json.dumps(content, indent=1) + "\n")


def data_dir() -> str:
    """Return where the downloaded data sets are."""
    found = os.environ.get("SMOOTHCERT_DATA")
    if not found:
        sys.exit("set SMOOTHCERT_DATA to a folder that holds mnist/ and fashion-mnist/ with their *-ubyte.gz")
    return found
