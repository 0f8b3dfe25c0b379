"""The tables of the capacity page, made from measured and simulated figures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.report import shown, table
from benchmarks.simulation.scenarios import CIFAR, PROCEDURES, SCENARIOS, WORKERS

MOST_OFF = 0.10
"""Simulation may be off by so much from real runs with one and two workers."""
_COSTS = {
    "job_sent": "a job sent",
    "chunk_sent": "per chunk of it",
    "answer": "an answer taken in",
    "chunk_taken": "per chunk of it, looks included",
    "image_opened": "an image opened",
    "image_written": "a certificate made and written",
}


def results(measured: dict[str, Any], cells: list[dict[str, Any]]) -> str:
    """Return everything between the page's markers."""
    parts = measured["parts"]
    about = measured["machine"]
    made = ", ".join(
        f"{name} {part['made'][:10]} with {part['load_before']:.2f} cores busy before"
        for name, part in parts.items()
    )
    sections: list[tuple[str, str, Callable[[dict[str, Any]], str]]] = [
        ("What a task costs the driver", "driver", _costs),
        ("Simulation against reality", "workers", _reality),
        ("Simulation against a driver of sleeping workers", "crowds", _crowds),
    ]
    measured_parts = [
        f"### {title}\n\n{render(parts[name])}" for title, name, render in sections if name in parts
    ]
    speed_ups = [_speed_up(parts, cells, scenario) for scenario in SCENARIOS]
    return "\n\n".join(
        [
            f"{about['cpu']}, {about['cores']} cores. Made: {made}.",
            *measured_parts,
            "### Speed-up",
            *speed_ups,
            "### Shards, and longer jobs",
            _settings(cells),
        ]
    )


def _costs(driver: dict[str, Any]) -> str:
    """Milliseconds by kind of work and number of workers, for CIFAR-10 by GroupSequential; then per job of each."""
    kinds = driver[CIFAR.name]["group"]
    rows = [
        [text, *(f"{1_000 * kinds[str(workers)]['costs'][cost]:.3f}" for workers in WORKERS)]
        for cost, text in _COSTS.items()
    ]
    first = table([f"milliseconds, {CIFAR.title}, group", *(f"{w:,} workers" for w in WORKERS)], rows)
    per_job = [
        [scenario.title, name, *(_per_job(driver[scenario.name][name][str(workers)]) for workers in WORKERS)]
        for scenario in SCENARIOS
        for name in PROCEDURES
    ]
    second = table(["milliseconds per job", "procedure", *(f"{w:,} workers" for w in WORKERS)], per_job)
    about = "All of it together, per job (in brackets: processor time of all the driver's threads, Ray's among them):"
    return f"{first}\n\n{about}\n\n{second}"


def _per_job(found: dict[str, Any]) -> str:
    return f"{1_000 * found['thread_seconds_per_job']:.2f} ({1_000 * found['processor_seconds_per_job']:.2f})"


def _reality(part: dict[str, Any]) -> str:
    rows = []
    for workers, runs in part["runs"].items():
        for name, run in runs.items():
            off = run["simulated_over_real"]
            verdict = "within 10%" if abs(off["median"] - 1) <= MOST_OFF else "NOT within 10%"
            seconds = [
                " ".join(f"{one[kind]:.2f}" for one in run["rounds"])
                for kind in ("real_seconds", "simulated_seconds")
            ]
            jobs = f"{run['real_jobs']:,} / {run['simulated_jobs']:,}"
            rows.append([workers, name, *seconds, shown(off, 3), jobs, verdict])
    header = [
        "workers",
        "procedure",
        "real seconds",
        "simulated",
        "simulated / real",
        "jobs real / simulated",
        "",
    ]
    return table(header, rows)


def _crowds(part: dict[str, Any]) -> str:
    rows = []
    for name, run in part["runs"].items():
        workers, procedure = name.split()
        rows.append(
            [
                f"{int(workers):,}",
                procedure,
                f"{run['real_seconds']:.2f}",
                f"{run['simulated_seconds']:.2f}",
                f"{run['simulated_over_real']:.3f}",
                f"{run['real_jobs']:,} / {run['simulated_jobs']:,}",
            ]
        )
    about = (
        "The same with a real driver and a crowd of workers that sleep as long as ResNet-110's votes take:"
    )
    header = [
        "workers",
        "procedure",
        "real seconds",
        "simulated",
        "simulated / real",
        "jobs real / simulated",
    ]
    return f"{about}\n\n{table(header, rows)}"


def _speed_up(parts: dict[str, Any], cells: list[dict[str, Any]], scenario: Any) -> str:
    speed = parts["speeds"][scenario.name]
    rows = []
    for name in PROCEDURES:
        row, per_image = [name], ""
        for workers in WORKERS:
            cell = _one(cells, scenario.name, name, workers, scenario.images_by(name))
            if cell is None:
                row.append("not simulated")
                continue
            per_image = f"{cell['votes'] / cell['images']:,.0f}"
            row.append(
                f"{cell['speed_up']:,.0f}x, {_duration(cell['seconds'])} (driver {cell['driver_share']:.0%}, "
                f"workers {cell['worker_share']:.0%}, in vain {cell['wasted_share']:.0%})"
            )
        rows.append([row[0], per_image, *row[1:]])
    about = (
        f"{scenario.title}: {scenario.images} images ({scenario.images_by('fixed')} by CERTIFY), "
        f"{1 / speed['vote_seconds']:,.0f} votes per second and worker "
        f"({speed['engine']}), batches of {speed['rows']} rows."
    )
    header = ["procedure", "votes per image", *(f"{workers:,} workers" for workers in WORKERS)]
    return f"{about}\n\n{table(header, rows)}"


def _settings(cells: list[dict[str, Any]]) -> str:
    rows = []
    for cell in cells:
        usual = next(s for s in SCENARIOS if s.name == cell["scenario"])
        plain = (
            cell["shards"] == 1
            and cell["images"] == usual.images_by(cell["procedure"])
            and cell["rows"] == _rows(cells, cell)
        )
        if plain and not (cell["procedure"] == "fixed" and cell["workers"] == 1_000 and usual is CIFAR):
            continue
        what = f"{usual.title}, {cell['procedure']}, {cell['images']:,} images, {cell['workers']:,} workers"
        how = "one driver" if cell["shards"] == 1 else f"{cell['shards']} shards"
        if cell["rows"] != _rows(cells, cell):
            how += f", batches of {cell['rows']} rows"
        spent = f"{cell['speed_up']:,.0f}x, {_duration(cell['seconds'])}"
        rows.append([what, how, spent, f"{cell['driver_share']:.0%}", f"{cell['worker_share']:.0%}"])
    unique = [list(row) for row in dict.fromkeys(map(tuple, rows))]
    return table(["run", "driven by", "speed-up, time", "driver busy", "workers busy"], unique)


def _rows(cells: list[dict[str, Any]], like: dict[str, Any]) -> int:
    return min(int(cell["rows"]) for cell in cells if cell["scenario"] == like["scenario"])


def _one(
    cells: list[dict[str, Any]], scenario: str, procedure: str, workers: int, images: int
) -> dict[str, Any] | None:
    wanted = (scenario, procedure, workers, images, 1)
    names = ("scenario", "procedure", "workers", "images", "shards")
    return next((cell for cell in cells if tuple(cell[name] for name in names) == wanted), None)


def _duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7_200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3_600:.1f} h"
