"""Part "page": a page about three runs of 10,000 images, and about logs, is small, made soon and soon at hand."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

import smoothcert as sc
from benchmarks.measure import spread
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import Settings
from smoothcert.store import format_tsv

MOST_MEGABYTES, MOST_SECONDS, MOST_READY = 8.0, 10.0, 2.0
_RUNS = 3
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


class _Threshold(nn.Module):
    """A network of one weight, so that making the runs takes no time to speak of."""

    def __init__(self, shift: float) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.tensor(shift))

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        """Return logits of two classes by the first pixel."""
        score = batch.flatten(1)[:, 0] - 0.5 + self.shift
        return torch.stack([-score, score], dim=1)


def run(settings: Settings) -> Part:
    """Make the pages by the command line, and open each in a browser if there is one."""
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        runs, logs = _make(home, settings.page_images)
        for about, paths in {f"{_RUNS} runs": runs, f"{_RUNS} logs": logs}.items():
            page = home / "page.html"
            command = [sys.executable, "-m", "smoothcert", "report", *map(str, paths), "--out", str(page)]
            for repetition in range(settings.page_rounds):
                start = time.perf_counter()
                subprocess.run(command, check=True, capture_output=True)
                seconds = time.perf_counter() - start
                rows.append(
                    {
                        "about": about,
                        "repetition": repetition,
                        "megabytes": page.stat().st_size / 1e6,
                        "seconds": seconds,
                        "ready": _ready(page),
                    }
                )
    figures = {
        about: _figures([row for row in rows if row["about"] == about])
        for about in (r["about"] for r in rows)
    }
    return Part(rows=rows, summary={"images": settings.page_images, "pages": figures})


def render(part: dict[str, Any]) -> str:
    """Return the table of a summary."""
    goals = {"megabytes": MOST_MEGABYTES, "seconds": MOST_SECONDS, "ready": MOST_READY}
    names = {"megabytes": "size (MB)", "seconds": "made in (s)", "ready": "ready in a browser (s)"}
    lines = [
        [about, names[key], shown(figures[key], 2), verdict(figures[key]["median"], most=most)]
        for about, figures in part["pages"].items()
        for key, most in goals.items()
        if key in figures
    ]
    about = f"{part['images']:,} images each; ready: from the start of loading until everything can be used."
    return f"### Page\n\n{about}\n\n" + table(["about", "what", "median (range)", "goal"], lines)


def _figures(rows: list[dict[str, Any]]) -> dict[str, dict[str, float]]:
    return {
        key: vars(spread([row[key] for row in rows]))
        for key in ("megabytes", "seconds", "ready")
        if all(row[key] is not None for row in rows)
    }


def _make(home: Path, images: int) -> tuple[list[Path], list[Path]]:
    pixels = np.random.default_rng(0).integers(0, 256, (images, 1, 8, 8)).astype(np.uint8)
    dataset = sc.Dataset.from_arrays(pixels, (pixels[:, 0, 0, 0] > 127).astype(int))
    runs, logs = [], []
    for number in range(_RUNS):
        classifier = sc.SmoothedClassifier(_Threshold(0.02 * number).eval(), sc.Gaussian(0.25), 2)
        out = home / f"run-{number}"
        run = sc.certify(classifier, dataset, procedure=sc.FixedSample(n0=32, n=256), seed=number, out=out)
        runs.append(out)
        logs.append(home / f"log-{number}.tsv")
        logs[-1].write_text(format_tsv(run))
    return runs, logs


def _ready(page: Path) -> float | None:
    """Return the seconds until the page can be used; None without a browser."""
    path = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if path is None:
        return None
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu"])
        shown_page = browser.new_page()
        shown_page.goto(page.as_uri())
        shown_page.wait_for_selector("html[data-ready]")
        ready = shown_page.evaluate("performance.getEntriesByName('ready')[0].startTime") / 1000
        browser.close()
    return float(ready)
