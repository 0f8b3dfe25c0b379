"""Members of other packages: a module and its entry point, written where Python finds installed packages."""

import importlib
import sys
from textwrap import dedent

from smoothcert.certificates import PROCEDURES
from smoothcert.noise import NOISE_LAWS

REGISTRIES = (NOISE_LAWS, PROCEDURES)

NOISE, PROCEDURE = "smoothcert.noise.laws", "smoothcert.certificates.procedures"

LAW = '''
    """A law with a parameter of its own, as another package may bring it."""

    from dataclasses import dataclass
    from typing import ClassVar

    import numpy as np
    from scipy.special import ndtr, ndtri

    from smoothcert.noise import AdditiveNoise


    @dataclass(frozen=True)
    class Tilted(AdditiveNoise):
        """Normal noise that claims a share of what its radius is.

        Args:
            sigma: standard deviation, in pixel units.
            share_kept: share of the radius that is claimed, up to 1.
        """

        sigma: float
        share_kept: float = 0.5
        norm: ClassVar[str] = "l2"

        @property
        def std(self):
            return self.sigma

        def perturb(self, image, out, generator):
            out.normal_(0.0, self.sigma, generator=generator).add_(image)

        def parameters(self):
            return {"sigma": float(self.sigma), "share_kept": float(self.share_kept)}

        def _radius(self, p):
            return np.asarray(self.share_kept * self.sigma * ndtri(p))

        def _threshold(self, radius):
            return np.asarray(ndtr(radius / self.share_kept / self.sigma))

        def _runner_up_radius(self, p, q):
            return np.asarray(self.share_kept * self.sigma / 2 * (ndtri(p) - ndtri(q)))
'''

PROCEDURE_CODE = '''
    """A fixed sample with a bound of its own, as another package may bring it."""

    from dataclasses import dataclass
    from math import log, sqrt

    from smoothcert.certificates import Outcome, Plan, Procedure, Tally, Trial, Verdict
    from smoothcert.sampling import Phase


    @dataclass(frozen=True)
    class Hoeffding(Procedure):
        """Choose the class by 50 votes, bound it by others (Hoeffding).

        Args:
            n: votes that bound the class.
        """

        n: int = 1_000

        def plan(self, noise, alpha):
            return _Plan(noise, alpha, (Phase("select", (50,)), Phase("estimate", (self.n,))))


    @dataclass(frozen=True)
    class _Plan(Plan):
        noise: object
        alpha: float
        phases: tuple

        def start(self):
            return _Trial(self)


    class _Trial(Trial):
        def __init__(self, plan):
            super().__init__()
            self.plan = plan

        def absorb(self, look, counts):
            self.tallies.append(Tally(self.plan.phases[look].name, "bound" if look else "select", counts))
            return look == 1

        def verdict(self):
            chosen, counts = self.tallies[0].counts.top, self.tallies[1].counts
            share = counts.votes[chosen] / counts.drawn
            p = max(float(share - sqrt(log(1 / self.plan.alpha) / 2 / counts.drawn)), 0.0)
            if p <= 0.5:
                return Verdict(Outcome.NO_MAJORITY, None, 0.0, p, tuple(self.tallies))
            return Verdict(Outcome.CERTIFIED, chosen, self.plan.noise.radius(p), p, tuple(self.tallies))
'''


def write_package(folder, group, name, code, *, package="smoothcert-extra", version="1.2"):
    """Write a module and the files that installing it would write."""
    module = name.replace("-", "_")
    folder.joinpath(f"{module}.py").write_text(dedent(code))
    info = folder / f"{package.replace('-', '_')}-{version}.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: {version}\n")
    with (info / "entry_points.txt").open("a") as file:
        file.write(f"[{group}]\n{name} = {module}\n")
    return info


class Outside:
    """Other packages, installed for the length of a test."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.monkeypatch = folder, monkeypatch
        self.before = [(registry._places, registry._members) for registry in REGISTRIES]
        monkeypatch.syspath_prepend(str(folder))
        self.look_again()

    def install(self, group, name, code, **package):
        """Install a member; returns the folder that says so."""
        self.monkeypatch.delitem(sys.modules, name.replace("-", "_"), raising=False)
        info = write_package(self.folder, group, name, code, **package)
        self.look_again()
        return info

    def look_again(self):
        """Let the registries look for members again, as a new process does."""
        importlib.invalidate_caches()
        for registry in REGISTRIES:
            registry._members = {}
            vars(registry).pop("_places", None)

    def remove(self):
        """Let the registries know what they knew before."""
        for registry, (places, members) in zip(REGISTRIES, self.before, strict=True):
            registry._places, registry._members = places, members
