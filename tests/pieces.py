"""Small runs to cut into pieces: twelve small vectors, a linear network, and one that cannot answer dark images."""

import dataclasses

import numpy as np
import torch

import smoothcert as sc

PROCEDURE = sc.FixedSample(n0=20, n=64)
DARK = (2, 5)
"""Images that `Picky` cannot answer."""


def dataset():
    """Twelve vectors of four values; those at `DARK` are far darker than noise makes the others."""
    rng = np.random.default_rng(0)
    images = rng.uniform(0.6, 1.0, (12, 4)).astype(np.float32)
    images[list(DARK)] = 0.3
    return sc.Dataset.from_arrays(images, np.arange(12) % 3, name="twelve")


def linear(seed=0):
    """A network of torch's own, which threads share."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(4, 3)).eval()


class Picky(torch.nn.Module):
    """The linear network, but it raises an error, or answers NaN, where a row of the batch is dark."""

    def __init__(self, how="raises"):
        super().__init__()
        self.how, self.inner = how, linear()
        self.eval()

    def forward(self, batch):
        mean = batch.flatten(1).mean(1)
        dark = (mean > 0.15) & (mean < 0.45)  # not black, which the probe asks about
        if self.how == "raises" and bool(dark.any()):
            raise RuntimeError("too dark")
        return torch.where(dark[:, None], torch.nan, self.inner(batch))


def smoothed(model=None, sigma=0.05):
    return sc.SmoothedClassifier(linear() if model is None else model, sc.Gaussian(sigma), 3)


def certified(out=None, model=None, **how):
    """Certify the twelve images with a known seed."""
    how = {"procedure": PROCEDURE, "seed": 7, "workers": 1, **how}
    return sc.certify(smoothed(model), dataset(), out=out, **how)


def planned(path, model=None, **how):
    return sc.plan_run(smoothed(model), dataset(), path, **{"procedure": PROCEDURE, "seed": 7, **how})


def drawn(plan, shard, out, model=None, data=None, **how):
    data = dataset() if data is None else data
    return sc.certify_shard(smoothed(model), data, plan, shard=shard, out=out, workers=1, **how)


def renamed(data, **changes):
    return dataclasses.replace(data, **changes)
