"""Part "noise": nanoseconds per value of every noise law, and of other ways to make Gaussian noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

import smoothcert as sc
from benchmarks.measure import Draw, alternate, of_rival, ratio, spread
from benchmarks.report import Part, shown, table
from benchmarks.settings import SIGMA, Settings
from smoothcert.noise import NoiseLaw
from smoothcert.sampling import CHUNK_VOTES
from smoothcert.seeding import KeyedGenerator, stream_key

SHAPES = {"lenet": (1, 28, 28), "cifar": (3, 32, 32), "imagenet": (3, 224, 224)}
GAUSSIAN, KEY, NORMAL, ZIGGURAT = "Gaussian", "the key alone", "normal_ alone", "NumPy's ziggurat, SFC64"
LAWS: dict[str, NoiseLaw] = {
    GAUSSIAN: sc.Gaussian(SIGMA),
    "GridGaussian": sc.GridGaussian(SIGMA),
    "Laplace": sc.Laplace(SIGMA),
    "Uniform": sc.Uniform(SIGMA),
    "DiscreteReplacement, 2 levels": sc.DiscreteReplacement(keep=0.8),
    "DiscreteReplacement, 256 levels": sc.DiscreteReplacement(keep=0.8, levels=256),
}


def run(settings: Settings) -> Part:
    """Make chunks of noise on one thread, law by law in turns; what a vote costs before the network sees it."""
    rows, shapes = [], {}
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for name in settings.noise_shapes:
            print(f"noise: {name}", flush=True)
            jobs = _jobs(SHAPES[name], settings.noise_values)
            for job in jobs.values():
                job()
            found = alternate("noise", name, jobs, settings.repetitions)
            rows += [row.row() for row in found]
            shapes[name] = {
                job: {
                    "nanoseconds": asdict(
                        spread([1e9 * row.seconds_per_vote for row in of_rival(found, job)])
                    ),
                    "over_gaussian": asdict(ratio(found, job, GAUSSIAN)),
                }
                for job in jobs
            }
    finally:
        torch.set_num_threads(threads)
    return Part(rows, {"shapes": shapes})


def _jobs(shape: tuple[int, ...], values: int) -> dict[str, Draw]:
    """Return the rivals; each makes about so many values, in whole chunks, and returns their number."""
    image = torch.randint(0, 256, shape, generator=torch.Generator().manual_seed(0)) / 255
    out = torch.empty((CHUNK_VOTES, *shape))
    chunks = max(1, values // out.numel())
    stream, ziggurat = KeyedGenerator(), np.random.Generator(np.random.SFC64(0))

    def repeated(one: Callable[[torch.Generator], Any]) -> Draw:
        def draw() -> int:
            for chunk in range(chunks):
                one(stream.at(stream_key(0, 0, "bench", chunk)))
            return chunks * out.numel()

        return draw

    def by_ziggurat(generator: torch.Generator) -> None:
        ziggurat.standard_normal(dtype=np.float32, out=out.numpy())
        out.mul_(SIGMA).add_(image)

    def by_law(law: NoiseLaw) -> Draw:
        return repeated(lambda generator: law.perturb(image, out, generator))

    return {
        **{name: by_law(law) for name, law in LAWS.items()},
        KEY: repeated(lambda generator: None),
        NORMAL: repeated(lambda generator: out.normal_(generator=generator)),
        ZIGGURAT: repeated(by_ziggurat),
    }


def render(summary: dict[str, Any]) -> str:
    """Return the part's table."""
    rows = [
        [shape, job, shown(found["nanoseconds"], 2), shown(found["over_gaussian"], 2)]
        for shape, jobs in summary["shapes"].items()
        for job, found in jobs.items()
    ]
    words = (
        f"Nanoseconds per value of a chunk of {CHUNK_VOTES} noisy images on one thread: key, noise and the image "
        "added. The last three of a shape are parts of Gaussian noise (each with its key), and another way to make it."
    )
    head = ["images", "noise", "nanoseconds per value", "time over Gaussian"]
    return f"### Noise\n\n{words}\n\n{table(head, rows)}"
