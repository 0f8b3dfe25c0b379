"""Noise laws: image + random stream -> noisy image, and probability <-> radius."""

from smoothcert.noise.choice import PARAMETERS, choose_noise, parameters_of
from smoothcert.noise.discrete import DiscreteReplacement
from smoothcert.noise.gaussian import Gaussian
from smoothcert.noise.grid_gaussian import GridGaussian
from smoothcert.noise.laplace import Laplace
from smoothcert.noise.law import NOISE_LAWS, NoiseLaw, noise_from
from smoothcert.noise.norms import NORMS, radius_in_norm
from smoothcert.noise.uniform import Uniform

__all__ = [
    "NOISE_LAWS",
    "NORMS",
    "PARAMETERS",
    "DiscreteReplacement",
    "Gaussian",
    "GridGaussian",
    "Laplace",
    "NoiseLaw",
    "Uniform",
    "choose_noise",
    "noise_from",
    "parameters_of",
    "radius_in_norm",
]
