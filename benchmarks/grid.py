"""Part "grid": what float-safe noise costs, end to end, beside plain Gaussian noise and l0 noise."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch

import smoothcert as sc
from benchmarks.measure import Draw, Measurement, alternate, rate, ratio, timed, whole_batches
from benchmarks.networks import Network, load
from benchmarks.ours import Ours
from benchmarks.report import Part, shown, table, verdict
from benchmarks.settings import N0, SIGMA, Settings
from smoothcert.noise import NoiseLaw

PLAIN, GRID, L0 = "Gaussian", "GridGaussian", "DiscreteReplacement"
LAWS: dict[str, NoiseLaw] = {
    PLAIN: sc.Gaussian(SIGMA),
    GRID: sc.GridGaussian(SIGMA),
    L0: sc.DiscreteReplacement(keep=0.8),
}
MOST = {"resnet20": 1.25}
"""How many times a vote with float-safe noise may take that of one with plain noise; where there is a goal."""


def run(settings: Settings) -> Part:
    """Certify one 8-bit image under each law, in turns."""
    rows, networks = [], {}
    for name in settings.grid_networks:
        print(f"grid: {name}", flush=True)
        found, networks[name] = _network(load(name), settings)
        rows += [row.row() for row in found]
    return Part(rows, {"networks": networks})


def _network(network: Network, settings: Settings) -> tuple[list[Measurement], dict[str, Any]]:
    image = torch.round(network.image * 255) / 255
    rivals = {
        name: Ours(network.model, image, engine=settings.engine, workers=settings.workers, noise=law)
        for name, law in LAWS.items()
    }
    together = settings.workers * rivals[PLAIN].batch
    drawn, seconds = timed(lambda: rivals[PLAIN].certify(image, 2 * together).votes)
    n = max(whole_batches(settings.seconds * drawn / seconds, together), settings.least_batches * together)

    def draw(ours: Ours) -> Draw:
        return lambda: ours.certify(image, n).votes

    jobs = {name: draw(ours) for name, ours in rivals.items()}
    rows = alternate("grid", network.name, jobs, settings.repetitions)
    return rows, {
        "engine": rivals[PLAIN].engine.engine_name,
        "votes": N0 + n,
        "votes_per_second": {name: asdict(rate(rows, name)) for name in jobs},
        "over_plain": {name: asdict(ratio(rows, name, PLAIN)) for name in jobs if name != PLAIN},
    }


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = []
    for name, found in summary["networks"].items():
        for law, speed in found["votes_per_second"].items():
            over = found["over_plain"].get(law)
            goal = verdict(over["median"], most=MOST[name]) if over and law == GRID and name in MOST else ""
            rows.append([name, law, shown(speed, 0), "1" if over is None else shown(over, 3), goal])
    words = (
        "Votes per second of one certification, with noise drawn as floats, as integers on the 1/255 grid by inverse "
        "distribution function (what `certify --sound` uses), and by discrete replacement (l0)."
    )
    head = ["network", "noise", "votes per second", "time over Gaussian", "goal"]
    return f"### Float-safe noise\n\n{words}\n\n{table(head, rows)}"
