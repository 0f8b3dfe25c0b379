"""A quantised half-space whose class probability is known exactly: rounded inputs and integer weights, convolved."""

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from scipy.stats import binom, norm
from torch import nn

import smoothcert as sc
from marks import needs_openvino
from smoothcert.folders import read_graph
from smoothcert.networks import Probe, QuantizedNetwork
from smoothcert.workflows.quantizing.activations import Activation
from smoothcert.workflows.quantizing.float_graph import float_graph
from smoothcert.workflows.quantizing.int8_graph import int8_graph

SIGMA, ALPHA = 0.25, 0.05
TIMES, VOTES = 250, 2_000
MOST_ERRORS = binom.ppf(1 - 1e-4, TIMES, ALPHA)
WEIGHTS = (1.0, -0.55, 0.35)
OFFSET = 0.15  # where rounding takes three hundredths off the probability
IMAGE = torch.tensor([0.52, 0.47, 0.5])
RUNTIMES = [pytest.param("onnx"), pytest.param("openvino", marks=needs_openvino)]


def half_space(offset=OFFSET):
    """Class 1 where the weighted sum of three values exceeds an offset; both rows of weights have the same scale."""
    layer = nn.Linear(3, 2)
    layer.weight.data = torch.tensor([[-value for value in WEIGHTS], WEIGHTS])
    layer.bias.data = torch.tensor([offset, -offset])
    return nn.Sequential(layer).eval().requires_grad_(False)


def in_int8(model):
    """The half-space with inputs in steps of .47, wide apart on purpose."""
    graph = float_graph(model, IMAGE, "half-space")
    span = Activation((-60.0, 60.0), (-60.0, 60.0), np.zeros(3))
    names = [graph.graph.input[0].name, graph.graph.output[0].name]
    return int8_graph(graph, dict.fromkeys(names, span), ranges="all")


def read_out(content):
    """Step and zero of the input, whole weights and bias of class 1, as the file has them."""
    model = onnx.load_model_from_string(content)
    tensors = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    source = model.graph.input[0].name
    rounding = next(node for node in model.graph.node if node.op_type == "QuantizeLinear")
    assert rounding.input[0] == source
    step, zero = float(tensors[rounding.input[1]]), int(tensors[rounding.input[2]])
    (weights,) = [value for value in tensors.values() if value.dtype == np.int8 and value.ndim == 2]
    (bias,) = [
        value for value in tensors.values() if value.dtype == np.int32 and value.size == 2 and value.any()
    ]
    weights = weights if weights.shape == (2, 3) else weights.T
    assert (weights[0] == -weights[1]).all()
    assert bias[0] == -bias[1]
    return step, zero, weights[1].astype(int), int(bias[1])


def exact_probability(content, image, sigma):
    """P(class 1): each value's distribution on 256 steps, stretched by its weight, and their convolution."""
    step, zero, weights, bias = read_out(content)
    total, least = np.ones(1), 0
    for value, weight in zip(image.tolist(), weights.tolist(), strict=True):
        edges = (np.arange(256) - zero + 0.5)[:-1] * step
        below = np.concatenate([[0.0], norm.cdf((edges - value) / sigma), [1.0]])
        levels = weight * (np.arange(256) - zero)
        stretched = np.zeros(levels.max() - levels.min() + 1)
        stretched[levels - levels.min()] = np.diff(below)
        total, least = np.convolve(total, stretched), least + levels.min()
    return float(total[np.arange(least, least + len(total)) + bias > 0].sum())  # class 0 wins a tie


CONTENT = in_int8(half_space())
TRUTH = exact_probability(CONTENT, IMAGE, SIGMA)
IN_FLOAT = float(
    norm.cdf((np.dot(WEIGHTS, IMAGE.double().numpy()) - OFFSET) / (SIGMA * np.linalg.norm(WEIGHTS)))
)


def classifier(runtime):
    graph = read_graph(CONTENT, input_shape=(3,), num_classes=2)
    bare = QuantizedNetwork(graph, "int8", Probe(torch.empty(0)), runtime=runtime)
    images = IMAGE + SIGMA * torch.randn(64, 3, generator=torch.Generator().manual_seed(0))
    answers = bare(images) if runtime == "onnx" else bare.openvino_graph((64, 16)).run(images)
    network = QuantizedNetwork(graph, "int8", Probe(images, {runtime: answers}), runtime=runtime)
    return sc.SmoothedClassifier(network, sc.Gaussian(SIGMA), 2)


def bounds_of(smoothed, engine):
    """Lower bounds of many certificates about the image."""
    procedure = sc.FixedSample(n0=20, n=VOTES)
    how = {"alpha": ALPHA, "seed": 3, "workers": 1, "engine": engine}
    return np.array([one.p_lower for one in smoothed.certify([IMAGE] * TIMES, procedure, **how)])


def test_rounding_makes_another_classifier():
    """Or the tests below would not tell the two apart."""
    assert abs(TRUTH - IN_FLOAT) > 0.01
    assert 0.5 < min(TRUTH, IN_FLOAT) < max(TRUTH, IN_FLOAT) < 0.99


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_votes_have_the_exact_probability_of_the_quantised_network_and_not_that_in_float(runtime):
    votes = 200_000
    found = classifier(runtime).certify(IMAGE, sc.FixedSample(n0=100, n=votes), seed=1, workers=1)
    assert (found.engine, found.precision) == (runtime, "int8")
    right = int(found.counts.votes[1])
    for probability, true in ((TRUTH, True), (IN_FLOAT, False)):
        tail = min(binom.cdf(right, votes, probability), binom.sf(right - 1, votes, probability))
        assert (tail > 1e-4) == true


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_certificates_err_no_more_often_than_alpha_and_are_not_idle(runtime):
    bounds = bounds_of(classifier(runtime), runtime)
    assert (bounds > TRUTH).sum() <= MOST_ERRORS
    assert (bounds > TRUTH - 3 * np.sqrt(TRUTH * (1 - TRUTH) / VOTES) - 0.01).mean() > 0.5


def test_the_network_in_float_would_prove_too_much():
    """The unsound twin: its certificates, taken for those of the quantised network, err in most cases."""
    assert IN_FLOAT > TRUTH
    twin = sc.SmoothedClassifier(half_space(), sc.Gaussian(SIGMA), 2)
    assert (bounds_of(twin, "torch") > TRUTH).sum() > 5 * MOST_ERRORS
