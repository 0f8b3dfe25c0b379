"""Classifiers that misbehave in workers of a cluster, on request: a file says what is to happen, and when."""

import os
import resource
import signal
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn


class Bright(nn.Module):
    """Two classes by the mean of an image, after a `happening`; `folder` holds what it is told and what it did.

    A happening is the name of a method below, and happens once, in the first worker that takes it.
    """

    def __init__(self, folder, reads_environment=False):
        super().__init__()
        self.folder, self.driver, self.reads_environment = str(folder), os.getpid(), reads_environment
        self.scale = nn.Parameter(torch.tensor(20.0), requires_grad=False)
        self.eval()

    def forward(self, batch):
        if os.getpid() != self.driver:
            self._happen()
        mean = batch.flatten(1).mean(dim=1) - 0.3
        if self.reads_environment:
            mean = mean + float(os.environ.get("BRIGHT_OFFSET", "0"))
        return torch.stack([-self.scale * mean, self.scale * mean], dim=1)

    def tell(self, happening):
        """Let something happen to the next worker that asks the model."""
        Path(self.folder, f"{happening}.told").touch()

    def has_happened(self, happening):
        return Path(self.folder, f"{happening}.done").exists()

    def _happen(self):
        for told in Path(self.folder).glob("*.told"):
            try:
                told.rename(told.with_suffix(".done"))
            except FileNotFoundError:  # another worker was faster
                continue
            getattr(self, told.stem)()

    def die(self):
        os.kill(os.getpid(), signal.SIGKILL)

    def hang(self):
        time.sleep(10_000)

    def fail(self):
        raise ArithmeticError("seven is odd")

    def exhaust(self):
        """Ask for more memory than the process may have, as the system would refuse it on a full machine."""
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + 2**28, used + 2**28))
        np.ones(2**28)
