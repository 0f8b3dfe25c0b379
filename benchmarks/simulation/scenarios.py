"""What is simulated: two networks with the vote shares that their images had, and four procedures for one radius."""

from __future__ import annotations

from dataclasses import dataclass

import smoothcert as sc
from benchmarks.settings import ALPHA, BETA
from benchmarks.simulation.made_up_votes import MadeUpVotes
from benchmarks.simulation.vote_shares import ShareHistogram
from smoothcert.certificates import Plan, Procedure

SEED = 5
PROCEDURES = ("fixed", "staged", "sequential", "group")
WORKERS = (10, 100, 1_000)


def procedures(radius: float, most: int = 100_000) -> dict[str, Procedure]:
    """Return the four procedures for one radius, each with the votes that it needs to match CERTIFY with `most`.

    Args:
        radius: to prove, in pixel units.
        most: votes of CERTIFY.
    """
    stages = [votes for votes in (100, 1_000, 10_000) if votes < most]
    return {
        "fixed": sc.FixedSample(n=most),
        "staged": sc.Staged(radius=radius, stages=(*stages, 12 * most // 10), beta=BETA),
        "sequential": sc.Sequential(radius=radius, max_samples=12 * most // 10, beta=BETA),
        "group": sc.GroupSequential(radius=radius, n=most, beta=BETA),
    }


@dataclass(frozen=True)
class Scenario:
    """A network on a data set.

    Args:
        name: of both, in files.
        title: of both, for people.
        network: of `benchmarks.networks`, whose votes are timed.
        shape: of an image.
        classes: how many there are.
        shares: name of the histogram of vote shares.
        radius: to prove, in pixel units.
        images: those that the field certifies; a tenth of them by CERTIFY, whose images all cost alike.
    """

    name: str
    title: str
    network: str
    shape: tuple[int, ...]
    classes: int
    shares: str
    radius: float
    images: int = 500

    @property
    def histogram(self) -> ShareHistogram:
        """Vote shares of its images."""
        return ShareHistogram.read(self.shares)

    def images_by(self, procedure: str) -> int:
        """Return how many images are simulated."""
        return self.images // 10 if procedure == "fixed" else self.images

    def plan(self, procedure: str) -> Plan:
        """Return a procedure bound to the noise."""
        return procedures(self.radius)[procedure].plan(sc.Gaussian(self.histogram.sigma), ALPHA)

    def votes(self, images: int, classes: int | None = None) -> MadeUpVotes:
        """Return the votes of so many images.

        Args:
            images: how many.
            classes: among which the votes fall; decisions only ask for the leading one, so ten tell as much as all.
        """
        return MadeUpVotes(self.histogram.shares(images, SEED), classes or min(self.classes, 10), SEED)


CIFAR = Scenario("cifar10", "CIFAR-10, ResNet-110", "resnet110", (3, 32, 32), 10, "cifar10", 0.25)
IMAGENET = Scenario("imagenet", "ImageNet, ResNet-50", "resnet50", (3, 224, 224), 1_000, "imagenet", 1.0)
SCENARIOS = (CIFAR, IMAGENET)
