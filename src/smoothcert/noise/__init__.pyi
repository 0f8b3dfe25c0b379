from .additive import AdditiveNoise, OneScaleNoise
from .domain import check_scale, in_words
from .law import NOISE_LAWS, NoiseLaw, noise_from
from .laws.discrete import DiscreteReplacement
from .laws.gaussian import Gaussian
from .laws.grid_gaussian import GridGaussian
from .laws.laplace import Laplace
from .laws.uniform import Uniform
from .norms import NORMS, radius_in_norm

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
