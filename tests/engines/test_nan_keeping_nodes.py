"""Nodes of graphs that OpenVINO runs: each kind that is let in keeps what is no number, and others are refused."""

import numpy as np
import onnxruntime
import pytest
import torch
from onnx import TensorProto, helper, numpy_helper
from tests.own_models import nearest_mean, onnx_model

from marks import needs_openvino
from smoothcert.engines import EngineUnavailableError
from smoothcert.engines.nan_keeping_nodes import KEEPING, with_nan_keeping_nodes
from smoothcert.networks.onnx_files.openvino_graph import OpenvinoGraph

ATTRIBUTES = {
    **{"AveragePool": {"kernel_shape": [2, 2]}, "Gather": {"axis": 1}, "Transpose": {"perm": [0, 3, 1, 2]}},
    **{"Concat": {"axis": 1}, "Conv": {"pads": [1, 1, 1, 1]}, "Relu": {}},
}
DRAW = np.random.default_rng(0)
OTHERS = {
    **{name: [DRAW.normal(0, 1, (3, 1, 1)).astype(np.float32)] for name in ("Add", "Sub", "Mul", "Div")},
    "BatchNormalization": [np.abs(DRAW.normal(1, 0.1, 3)).astype(np.float32) for _ in range(4)],
    "Conv": [DRAW.normal(0, 1, (5, 3, 3, 3)).astype(np.float32)],
    "MatMul": [DRAW.normal(0, 1, (4, 6)).astype(np.float32)],
    "Gather": [np.array([2, 0])],
    "Reshape": [np.array([0, -1])],
    "Unsqueeze": [np.array([1])],
    "Concat": [np.zeros((16, 1, 4, 4), np.float32)],
    **{name: [np.array([2, 3])] for name in ("ReduceMean", "ReduceSum")},
}


def one_node(kind):
    """A graph of images (16, 3, 4, 4) in which a node of this kind does its work; None where it takes no images."""
    if kind in ("Constant", "Gemm", "Squeeze"):
        return None  # without an input; what MatMul and Add do; a shape
    others = [numpy_helper.from_array(array, f"i{n}") for n, array in enumerate(OTHERS.get(kind, []))]
    node = helper.make_node(kind, ["x", *(one.name for one in others)], ["y"], **ATTRIBUTES.get(kind, {}))
    graph = helper.make_graph(
        [node],
        "one node",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [16, 3, 4, 4])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        others,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)


def hard_images():
    images = np.random.default_rng(1).normal(0, 1, (16, 3, 4, 4)).astype(np.float32)
    images[3, 0, 2, 2], images[4, 0, 2, 2], images[5, 0, 1, 1] = np.nan, np.inf, -np.inf
    images[6], images[7], images[8] = np.nan, np.inf, -np.inf
    return images


def by_onnx_runtime(content, images):
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    return session.run(["y"], {"x": images})[0]


@needs_openvino
@pytest.mark.parametrize("kind", sorted(KEEPING))
def test_every_kind_of_node_that_is_let_in_keeps_no_numbers(kind):
    model = one_node(kind)
    if model is None:
        return
    content, images = model.SerializeToString(), hard_images()
    wanted = by_onnx_runtime(content, images)
    graph = OpenvinoGraph(with_nan_keeping_nodes(content, pools=False), "y", (3, 4, 4), (16,))
    given = graph.run(torch.from_numpy(images)).numpy()
    np.testing.assert_array_equal(np.isnan(given), np.isnan(wanted))
    np.testing.assert_allclose(given, wanted, rtol=1e-5, atol=1e-6)


def test_exchanged_nodes_answer_as_before():
    relu = helper.make_node("Relu", ["y"], ["z"])
    odd = helper.make_node("Mul", ["z", "smoothcert_zero"], ["w"])  # a name that is taken
    model = onnx_model(*nearest_mean(), nodes=[relu, odd])
    model.graph.initializer.append(numpy_helper.from_array(np.float32(2), "smoothcert_zero"))
    model.graph.output[0].name = "w"
    after = with_nan_keeping_nodes(model.SerializeToString(), pools=False)
    assert "Relu" not in {node.op_type for node in type(model).FromString(after).graph.node}
    images = hard_images()[:, :1].repeat(2, axis=2).repeat(2, axis=3)
    answers = [
        onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"]).run(None, {"x": images})[0]
        for content in (model.SerializeToString(), after)
    ]
    np.testing.assert_array_equal(*answers)
    assert np.isnan(answers[0]).any()


@pytest.mark.parametrize("kind", ["Clip", "MaxPool", "Softmax", "HardSigmoid"])
def test_other_nodes_are_refused_by_name(kind):
    model = onnx_model(*nearest_mean(), nodes=[helper.make_node(kind, ["y"], ["w"])])
    with pytest.raises(EngineUnavailableError, match=f"its {kind} may hide what is no number"):
        with_nan_keeping_nodes(model.SerializeToString(), pools=False)
