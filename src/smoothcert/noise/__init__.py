"""Noise laws: image + random stream -> noisy image, and probability <-> radius."""

from smoothcert.noise.additive import AdditiveNoise
from smoothcert.noise.domain import check_scale, in_words
from smoothcert.noise.law import NOISE_LAWS, NoiseLaw, noise_from
from smoothcert.noise.laws.discrete import DiscreteReplacement
from smoothcert.noise.laws.gaussian import Gaussian
from smoothcert.noise.laws.grid_gaussian import GridGaussian
from smoothcert.noise.laws.laplace import Laplace
from smoothcert.noise.laws.uniform import Uniform
from smoothcert.noise.norms import NORMS, radius_in_norm
from smoothcert.noise.one_scale import OneScaleNoise

__all__ = [
    "NOISE_LAWS",
    "NORMS",
    "AdditiveNoise",
    "DiscreteReplacement",
    "Gaussian",
    "GridGaussian",
    "Laplace",
    "NoiseLaw",
    "OneScaleNoise",
    "Uniform",
    "check_scale",
    "in_words",
    "noise_from",
    "radius_in_norm",
]
