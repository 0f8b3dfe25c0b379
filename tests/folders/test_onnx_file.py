"""ONNX files of other exporters: read for what they are, refused by name for what they are not."""

import contextlib
import io
import os
import warnings

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from tests.own_models import nearest_mean, onnx_model, save_onnx
from torch import nn

from smoothcert.errors import CheckpointError, InvalidArgumentError, SmoothcertError
from smoothcert.folders.own import onnx_file
from smoothcert.folders.own.onnx_file import read_onnx


@pytest.fixture
def images():
    return np.random.default_rng(0).random((100, 1, 8, 8), dtype=np.float32)


def scores_of(images):
    weights, biases = nearest_mean()
    return images.reshape(len(images), 64) @ weights + biases


def test_what_a_file_says_and_what_it_answers(tmp_path, images):
    graph = read_onnx(save_onnx(tmp_path / "net.onnx"))
    assert (graph.input_shape, graph.num_classes, graph.rows) == ((1, 8, 8), 10, None)
    assert (graph.input_name, graph.output_name, graph.parameters) == ("x", "y", 650)
    np.testing.assert_allclose(graph.run(images), scores_of(images), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rows", [1, 5, 64])
@pytest.mark.parametrize("asked", [1, 16, 99])
def test_a_fixed_number_of_rows_is_filled_up_or_split(tmp_path, images, rows, asked):
    graph = read_onnx(save_onnx(tmp_path / "net.onnx", shape=(rows, 1, 8, 8)))
    assert graph.rows == rows
    np.testing.assert_allclose(graph.run(images[:asked]), scores_of(images[:asked]), rtol=1e-5, atol=1e-5)


def test_torch_s_other_exporter(tmp_path, images):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 3, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 4)).eval()
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        axes = {"images": {0: "rows"}}
        torch.onnx.export(
            net, (torch.zeros(2, 1, 8, 8),), file, dynamo=False, input_names=["images"], dynamic_axes=axes
        )
    (tmp_path / "net.onnx").write_bytes(file.getvalue())
    graph = read_onnx(tmp_path / "net.onnx")
    assert (graph.input_name, graph.num_classes) == ("images", 4)
    wanted = net(torch.from_numpy(images)).detach().numpy()
    np.testing.assert_allclose(graph.run(images), wanted, rtol=1e-4, atol=1e-5)


def sklearn_like():
    """Labels and probabilities from one operator of classical models, as scikit-learn's exporter writes them."""
    weights, biases = nearest_mean()
    return helper.make_node(
        "LinearClassifier",
        ["x"],
        ["label", "probabilities"],
        domain="ai.onnx.ml",
        coefficients=weights.T.flatten().tolist(),
        intercepts=biases.tolist(),
        classlabels_ints=list(range(10)),
    )


def test_scores_beside_labels_are_found(tmp_path, images):
    graph = helper.make_graph(
        [sklearn_like()],
        "classical",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 64])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("probabilities", TensorProto.FLOAT, None),
        ],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    content = helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    (tmp_path / "net.onnx").write_bytes(content)
    read = read_onnx(tmp_path / "net.onnx")
    assert (read.output_name, read.input_shape, read.num_classes) == ("probabilities", (64,), 10)
    flat = images.reshape(100, 64)
    np.testing.assert_allclose(read.run(flat), scores_of(images), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("features", [False, True])
def test_tables_of_scores_by_class_are_refused_and_no_features_taken_for_them(tmp_path, features):
    number = helper.make_tensor_type_proto(TensorProto.FLOAT, [])
    tables = helper.make_sequence_type_proto(helper.make_map_type_proto(TensorProto.INT64, number))
    classes = list(range(10))
    zipped = helper.make_node(
        "ZipMap", ["probabilities"], ["maps"], domain="ai.onnx.ml", classlabels_int64s=classes
    )
    graph = helper.make_graph(
        [sklearn_like(), zipped, helper.make_node("Neg", ["x"], ["features"])],
        "classical",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [None, 64])],
        [
            helper.make_tensor_value_info("label", TensorProto.INT64, [None]),
            helper.make_value_info("maps", tables),
            *([value("features", TensorProto.FLOAT, [None, 64])] if features else []),
        ],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    content = helper.make_model(graph, opset_imports=imports, ir_version=9).SerializeToString()
    (tmp_path / "net.onnx").write_bytes(content)
    words = "2 outputs with something" if features else "'maps' .*zipmap=False"
    with pytest.raises(CheckpointError, match=words):
        read_onnx(tmp_path / "net.onnx")


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


REFUSED = {
    "takes uint8 input": {"kind": TensorProto.UINT8},
    "takes float16 input": {"kind": TensorProto.FLOAT16},
    "has 2 inputs": {
        "inputs": [value("z", TensorProto.FLOAT, ["n", 10])],
        "nodes": [helper.make_node("Add", ["y", "z"], ["w"])],
        "outputs": [value("w", TensorProto.FLOAT, ["n", 10])],
    },
    "has 2 outputs with something for every image": {
        "nodes": [helper.make_node("Softmax", ["y"], ["p"])],
        "outputs": [value("p", TensorProto.FLOAT, ["n", 10])],
    },
    "'Magic' of the domain 'com.example'": {
        "nodes": [helper.make_node("Magic", ["y"], ["m"], domain="com.example")],
        "domain": "com.example",
    },
    "batches of exactly 16,777,216 images": {"shape": (2**24, 1, 8, 8)},
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_no_classifier_of_images_is_refused_by_name(tmp_path, message):
    with pytest.raises(CheckpointError, match=message):
        read_onnx(save_onnx(tmp_path / "net.onnx", **REFUSED[message]))


def test_a_custom_operator_inside_a_branch_is_seen(tmp_path):
    inner = helper.make_graph(
        [helper.make_node("Magic", ["y"], ["m"], domain="com.example")],
        "branch",
        [],
        [value("m", TensorProto.FLOAT, None)],
    )
    always = helper.make_node(
        "Constant", [], ["yes"], value=helper.make_tensor("t", TensorProto.BOOL, [], [1])
    )
    branch = helper.make_node("If", ["yes"], ["w"], then_branch=inner, else_branch=inner)
    with pytest.raises(CheckpointError, match="Magic"):
        read_onnx(save_onnx(tmp_path / "net.onnx", nodes=[always, branch], domain="com.example"))


def test_an_opset_from_the_future_is_told(tmp_path):
    with pytest.raises(CheckpointError, match=r"of opset 99, newer than the \d+ known here"):
        read_onnx(save_onnx(tmp_path / "net.onnx", opset=99))


def test_no_row_of_scores(tmp_path):
    model = onnx_model(*nearest_mean(), nodes=[helper.make_node("ArgMax", ["y"], ["a"], axis=1, keepdims=0)])
    del model.graph.output[:]
    model.graph.output.append(value("a", TensorProto.INT64, ["n"]))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(
        CheckpointError, match=r"has no outputs with something for every image.*'a' \(int64 \(16,\)\)"
    ):
        read_onnx(tmp_path / "net.onnx")


@pytest.mark.parametrize("deep", [False, True])
def test_weights_in_other_files_are_refused(tmp_path, deep):
    model = onnx_model(*nearest_mean())
    tensor = model.graph.initializer[0]
    if deep:
        node = helper.make_node(
            "Constant", [], ["k"], value=helper.make_tensor("t", TensorProto.FLOAT, [1], [1])
        )
        model.graph.node.append(node)
        tensor = model.graph.node[-1].attribute[0].t
    tensor.ClearField("raw_data")
    tensor.ClearField("float_data")
    tensor.data_location = TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../etc/passwd")
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match=r"another file, '\.\./\.\./etc/passwd'"):
        read_onnx(tmp_path / "net.onnx")


def test_open_shapes_are_said_by_the_user(tmp_path, images):
    path = save_onnx(tmp_path / "net.onnx", shape=("n", 1, "height", "width"))
    with pytest.raises(InvalidArgumentError, match=r"\(1, \?, \?\).*input_shape"):
        read_onnx(path)
    assert read_onnx(path, input_shape=(1, 8, 8)).input_shape == (1, 8, 8)
    with pytest.raises(InvalidArgumentError, match=r"input_shape is \(3, 8, 8\)"):
        read_onnx(path, input_shape=(3, 8, 8))
    with pytest.raises(CheckpointError, match="cannot be run on 16 images"):
        read_onnx(path, input_shape=(1, 9, 9))
    with pytest.raises(InvalidArgumentError, match=r"num_classes is 7, but .* answers with 10"):
        read_onnx(path, input_shape=(1, 8, 8), num_classes=7)


def beside(features="features", **more):
    """Return how to write a network whose features are an output too, beside others."""
    return {
        "nodes": [helper.make_node("Identity", ["flat"], [features]), *more.get("nodes", [])],
        "outputs": [value(features, TensorProto.FLOAT, ["n", 64]), *more.get("outputs", [])],
    }


@pytest.mark.parametrize("classes", [None, 10, 64])
def test_no_number_of_classes_chooses_an_output(tmp_path, classes):
    path = save_onnx(tmp_path / "net.onnx", **beside())
    with pytest.raises(
        CheckpointError, match=r"2 outputs.*'y' \(float32 \(16, 10\)\), 'features' \(float32 \(16, 64"
    ):
        read_onnx(path, num_classes=classes)


def test_logits_among_several_outputs_are_known_by_their_name(tmp_path):
    logits = {
        "nodes": [helper.make_node("Identity", ["y"], ["logits"])],
        "outputs": [value("logits", TensorProto.FLOAT, ["n", 10])],
    }
    path = save_onnx(tmp_path / "net.onnx", **beside(**logits))
    assert (read_onnx(path).output_name, read_onnx(path).num_classes) == ("logits", 10)
    with pytest.raises(InvalidArgumentError, match=r"num_classes is 64, but .* answers with 10"):
        read_onnx(path, num_classes=64)


AXIS = [
    helper.make_node("Constant", [], ["axis"], value=helper.make_tensor("t", TensorProto.INT64, [1], [1])),
    helper.make_node("Unsqueeze", ["y", "axis"], ["out"]),
]
HIDDEN = {
    "one column": ([helper.make_node("ReduceMax", ["y"], ["out"], axes=[1])], TensorProto.FLOAT, ["n", 1]),
    "a number": (
        [helper.make_node("ReduceMax", ["y"], ["out"], axes=[1], keepdims=0)],
        TensorProto.FLOAT,
        ["n"],
    ),
    "whole numbers": (
        [helper.make_node("Cast", ["y"], ["out"], to=TensorProto.INT32)],
        TensorProto.INT32,
        ["n", 10],
    ),
    "three axes": (AXIS, TensorProto.FLOAT, ["n", 1, 10]),
}


@pytest.mark.parametrize("name", ["out", "logits"])
@pytest.mark.parametrize("form", HIDDEN)
def test_features_are_not_taken_beside_scores_of_another_form(tmp_path, form, name):
    """What may be the scores counts, though it could not be certified, and by no other output's grace."""
    nodes, kind, shape = HIDDEN[form]
    model = onnx_model(*nearest_mean(), **beside(nodes=nodes))
    del model.graph.output[:]
    model.graph.output.extend([value("features", TensorProto.FLOAT, ["n", 64]), value(name, kind, shape)])
    model.graph.node[-1].output[0] = name
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    words = "2 outputs" if name == "out" else "'logits' .* no row of float scores"
    for classes in (None, 64):
        with pytest.raises(CheckpointError, match=words):
            read_onnx(tmp_path / "net.onnx", num_classes=classes)


@pytest.mark.parametrize("form", HIDDEN)
def test_scores_of_another_form_are_refused_by_name(tmp_path, form):
    nodes, kind, shape = HIDDEN[form]
    model = onnx_model(*nearest_mean(), nodes=nodes)
    del model.graph.output[:]
    model.graph.output.append(value("out", kind, shape))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match=r"'out' .* no row of float scores"):
        read_onnx(tmp_path / "net.onnx")


def test_every_file_that_is_cut_short_is_refused(tmp_path):
    content = save_onnx(tmp_path / "net.onnx").read_bytes()
    assert len(content) < 5_000
    for length in (*range(0, 60), *range(60, len(content), 97), len(content) - 1):
        (tmp_path / "cut.onnx").write_bytes(content[:length])
        with pytest.raises(CheckpointError):
            read_onnx(tmp_path / "cut.onnx")


@pytest.mark.parametrize("content", [b"", b"\x00" * 100, b"PK\x03\x04 no model", os.urandom(512)])
def test_what_is_no_onnx_file_is_refused(tmp_path, content):
    (tmp_path / "net.onnx").write_bytes(content)
    with pytest.raises(SmoothcertError):
        read_onnx(tmp_path / "net.onnx")


def test_changed_bytes_are_refused_or_read(tmp_path, capfd):
    """Whatever a file holds, it is answered with a named error or with a graph, never with anything else."""
    content, rng = bytearray(save_onnx(tmp_path / "net.onnx").read_bytes()), np.random.default_rng(1)
    for _ in range(100):
        changed = bytearray(content)
        for place in rng.integers(0, len(content), 3):
            changed[place] = int(rng.integers(256))
        (tmp_path / "changed.onnx").write_bytes(changed)
        with contextlib.suppress(SmoothcertError):
            assert read_onnx(tmp_path / "changed.onnx").num_classes >= 2
    assert capfd.readouterr().out == ""


def test_names_that_are_no_text_are_refused(tmp_path):
    content = save_onnx(tmp_path / "net.onnx", shape=("rows", 1, 8, 8)).read_bytes()
    (tmp_path / "net.onnx").write_bytes(content.replace(b"rows", b"\xff\xfe\xff\xfe"))
    with pytest.raises(CheckpointError, match="names that are no text"):
        read_onnx(tmp_path / "net.onnx")


def test_large_files_pipes_and_folders_are_refused(tmp_path, monkeypatch):
    path = save_onnx(tmp_path / "net.onnx")
    os.mkfifo(tmp_path / "pipe.onnx")
    (tmp_path / "folder.onnx").mkdir()
    for name, message in (("pipe", "pipe"), ("folder", "folder"), ("missing", "No such file")):
        with pytest.raises(CheckpointError, match=message):
            read_onnx(tmp_path / f"{name}.onnx")
    monkeypatch.setattr(onnx_file, "MOST_ONNX_BYTES", 100)
    with pytest.raises(CheckpointError, match="larger than the 100 bytes"):
        read_onnx(path)


def test_quantised_operators_of_the_runtime_are_standard(tmp_path):
    assert onnx.defs.onnx_opset_version() >= 17
    node = helper.make_node("Gelu", ["y"], ["g"], domain="com.microsoft")
    model = onnx_model(*nearest_mean(), nodes=[node], domain="com.microsoft")
    del model.graph.output[:]
    model.graph.output.append(value("g", TensorProto.FLOAT, ["n", 10]))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    assert read_onnx(tmp_path / "net.onnx").output_name == "g"
