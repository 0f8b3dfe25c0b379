"""Engines that all run the same torch module and take as long as they are told, on a clock of their own."""

import torch

from smoothcert.engines import TorchEngine, choosing, resolve, stopwatch


class Clock:
    """Processor time that passes only where a twin runs; `reads` counts those who look."""

    def __init__(self):
        self.now, self.reads = 0.0, 0

    def process_time(self):
        self.reads += 1
        return self.now


class Members(dict):
    """Engines by name; those in `foreign` come from another package."""

    foreign = ()

    def package_of(self, name):
        return "another" if name in self.foreign else None


class Twins:
    """Exchanges the registry for twins, until the test is over.

    A cost is in seconds per vote; `made` lists the engines in the order in which they were made.
    """

    def __init__(self, monkeypatch):
        self.clock, self.costs, self.made, self.members = Clock(), {}, [], Members()
        monkeypatch.setattr(resolve, "ENGINES", self.members)
        monkeypatch.setattr(stopwatch, "time", self.clock)
        monkeypatch.setattr(choosing, "usable_cores", lambda: 2)

    def add(self, name, cost, setup=1e-6, answer=lambda logits: logits):
        """Add an engine; one whose `setup` is 0 is the plain one."""
        twins = self
        twins.costs[name] = cost

        class Twin(TorchEngine):
            registered_name = name

            @classmethod
            def setup_seconds(cls, workload):
                return setup

            def __init__(self, model, num_classes, example):
                twins.made.append(name)
                super().__init__(model, num_classes, example)
                self.as_is = False

            @torch.inference_mode()
            def forward(self, batch):
                twins.clock.now += twins.costs[name] * len(batch)
                return answer(super().forward(batch))

            exact_forward = forward

        self.members[name] = Twin
        return self
