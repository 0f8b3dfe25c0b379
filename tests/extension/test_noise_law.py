"""A noise law of another package, with a parameter of its own: one file, from the command line to the audit."""

import json

import pytest
from scipy.stats import norm

from extension.installing import PACKAGE, VERSION, commands, install, python

GROUP = "smoothcert.noise.laws"
LAW = '''"""Gaussian noise that is stronger in every second column: l2 radii by its weaker part."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from scipy.special import ndtr, ndtri

from smoothcert.errors import InvalidArgumentError
from smoothcert.noise import AdditiveNoise, check_scale


@dataclass(frozen=True)
class StripedGaussian(AdditiveNoise):
    """Independent normal noise; a shift is no likelier to be noticed than where all of it is as weak as its weak part.

    Args:
        sigma: standard deviation in the even columns, in pixel units.
        ratio: how many times as strong the noise is in the odd ones, at least 1.
    """

    sigma: float
    ratio: float = 2.0
    norm: ClassVar[str] = "l2"

    def __post_init__(self) -> None:
        check_scale("sigma", self.sigma)
        check_scale("ratio", self.ratio)
        if self.ratio < 1:
            raise InvalidArgumentError(f"ratio must be at least 1, got {self.ratio}")

    @property
    def std(self) -> float:
        return self.sigma

    def perturb(self, image: torch.Tensor, out: torch.Tensor, generator: torch.Generator) -> None:
        out.normal_(0.0, self.sigma, generator=generator)
        out[..., 1::2] *= self.ratio
        out.add_(image)

    def parameters(self) -> dict[str, Any]:
        return {"sigma": float(self.sigma), "ratio": float(self.ratio)}

    def _radius(self, p: Any) -> Any:
        return np.asarray(self.sigma * ndtri(p))

    def _threshold(self, radius: Any) -> Any:
        return np.asarray(ndtr(radius / self.sigma))

    def _runner_up_radius(self, p: Any, q: Any) -> Any:
        return np.asarray(self.sigma / 2 * (ndtri(p) - ndtri(q)))
'''
RECIPE = """
about: Digits under striped noise.
source: ours
deviation: none
base: {dataset: digits, method: gaussian, noise: striped-gaussian, ratio: 1.5, epochs: 1, lr: 0.1, batch_size: 32}
networks:
  convnet: {}
rows:
  0.3: {}
"""
SHOW = """
import json, sys
from smoothcert.store import Run
run = Run.open(sys.argv[1])
columns = [list(run.column(name)) for name in ("p_lower", "radius")]
print(json.dumps([run.manifest["noise"], run.manifest["packages"], *columns]))
"""


@pytest.mark.slow
def test_a_law_from_outside_is_listed_trained_certified_resumed_and_audited(tmp_path):
    site, model, run = tmp_path / "site", tmp_path / "model", tmp_path / "run"
    install(site, GROUP, "striped_gaussian.py", LAW)
    (tmp_path / "striped.yaml").write_text(RECIPE)
    certify = ("certify", model, "--n", 500, "--seed", 1, "--workers", 2, "--ratio", 2.5, "--first", 4)
    help_text, trained, weak, stopped, resumed, whole, audited = commands(
        site,
        ("certify", "--help"),
        ("train", tmp_path / "striped.yaml", "--seed", 1, "--out", model),
        ("certify", model, "--ratio", 0.5, "--first", 1, "--out", tmp_path / "weak"),
        ("stopped", *certify, "--out", run),
        (*certify, "--out", run, "--resume"),
        (*certify, "--out", tmp_path / "whole"),
        ("audit", run),
    )
    assert "striped-gaussian" in help_text[1]
    assert "--ratio" in help_text[1]
    assert trained[0] == 0, trained
    assert "ratio 1.5" in trained[1]
    assert weak[0] == 2
    assert "ratio must be at least 1, got 0.5" in weak[2]
    assert [part[0] for part in (stopped, resumed, whole, audited)] == [130, 0, 0, 0], (
        stopped,
        resumed,
        audited,
    )
    assert "no second formula for" in audited[1] + audited[2]
    shown = json.loads(python(site, SHOW, str(run)))
    assert shown == json.loads(python(site, SHOW, str(tmp_path / "whole")))
    noise, packages, p_lower, radii = shown
    assert noise == {"name": "striped-gaussian", "sigma": 0.3, "ratio": 2.5}
    assert PACKAGE in json.dumps(packages)
    assert VERSION in json.dumps(packages)
    assert len(radii) == 4
    assert radii == pytest.approx([0.3 * norm.ppf(max(p, 0.5)) for p in p_lower])
    (alone,) = commands(tmp_path, ("certify", model, "--first", 1, "--out", tmp_path / "other"))
    assert alone[0] == 2
    assert "unknown noise 'striped-gaussian'; known: discrete" in alone[2]
