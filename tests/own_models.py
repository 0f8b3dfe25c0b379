"""Models of a user's own, made without this package: ONNX files by hand, Python files with factories."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper

import smoothcert as sc

IR, OPSET = 9, 17
NET = '''
"""A network in a user's own file."""
from torch import nn


class Net(nn.Module):
    def __init__(self, width=4, classes=10):
        super().__init__()
        self.hidden = nn.Linear(64, width)
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        return self.head(self.hidden(x.flatten(1)).relu())


def make(width=4, classes=10):
    print("the factory runs")
    with open({marker!r}, "a") as mark:
        mark.write("x")
    return Net(width, classes)
'''


def nearest_mean(mean=0.0, std=1.0):
    """Weights (64, 10) and biases (10,) of the nearest mean of digits, for images normalised by two numbers."""
    train = sc.load_dataset("digits", "train")
    images = train.batch(range(len(train))).numpy().reshape(len(train), 64).astype(np.float64)
    means = np.stack([images[train.labels == label].mean(axis=0) for label in range(10)])
    weights, biases = 2 * means.T, -(means**2).sum(axis=1)
    return (std * weights).astype(np.float32), (biases + mean * weights.sum(axis=0)).astype(np.float32)


def onnx_model(
    weights,
    biases,
    *,
    shape=("n", 1, 8, 8),
    kind=TensorProto.FLOAT,
    opset=OPSET,
    nodes=(),
    outputs=(),
    inputs=(),
    domain=None,
    clips=False,
):
    """Return flatten, multiply, add as an ONNX model; with more nodes, inputs and outputs where given.

    One that clips cuts what it reads to [0, 1] first.
    """
    before = (
        [helper.make_node("Cast", ["x"], ["c"], to=TensorProto.FLOAT)] if kind != TensorProto.FLOAT else []
    )
    before = [helper.make_node("Clip", ["x", "zero", "one"], ["c"])] if clips else before
    chain = [
        *before,
        helper.make_node("Flatten", ["c" if before else "x"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weights"], ["scores"]),
        helper.make_node("Add", ["scores", "biases"], ["y"]),
    ]
    graph = helper.make_graph(
        [*chain, *nodes],
        "by hand",
        [helper.make_tensor_value_info("x", kind, shape), *inputs],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [shape[0], weights.shape[1]]), *outputs],
        [
            numpy_helper.from_array(weights, "weights"),
            numpy_helper.from_array(biases, "biases"),
            *(
                numpy_helper.from_array(np.float32(n), name)
                for n, name in enumerate(("zero", "one"))
                if clips
            ),
        ],
    )
    imports = [helper.make_opsetid("", opset), helper.make_opsetid("ai.onnx.ml", 3)]
    imports += [helper.make_opsetid(domain, 1)] if domain else []
    return helper.make_model(graph, opset_imports=imports, ir_version=IR)


def save_onnx(path, mean=0.0, std=1.0, **how):
    """Write the nearest mean of digits as an ONNX file and return its path."""
    path.write_bytes(onnx_model(*nearest_mean(mean, std), **how).SerializeToString())
    return path


def save_net(folder, name="net.py", text=NET):
    """Write a Python file with a factory that leaves a mark when it runs; return file and mark."""
    marker = folder / "it-ran"
    (folder / name).write_text(text.replace("{marker!r}", repr(str(marker))))
    return folder / name, marker
