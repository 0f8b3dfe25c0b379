"""What cannot be quantised, changed folders, machines that calculate otherwise, the original as a stand-in."""

import json
import shutil

import numpy as np
import onnx
import pytest
import torch
from onnx import TensorProto, helper
from tests.own_models import nearest_mean, onnx_model
from tests.small_networks import save_network

import smoothcert as sc
from marks import needs_openvino
from smoothcert.engines import this_processor
from smoothcert.errors import CheckpointError, InvalidArgumentError, ManifestMismatchError, SmoothcertError
from smoothcert.folders import probe_content, probe_digest, read_card
from smoothcert.folders.own.probe_file import read_probe
from smoothcert.networks import Probe, QuantizedNetwork
from smoothcert.workflows import Trust
from smoothcert.workflows.quantizing.bfloat16_graph import bfloat16_graph
from workflows.forging import seal_again, write
from workflows.quantizing.conftest import NOISE, SMALL

FAST = {"procedure": sc.FixedSample(n0=20, n=2_000), "seed": 2, "workers": 1}
FIRST = range(3)


def imported(folder, **how):
    """Write a folder of an ONNX file, the nearest mean of digits with more nodes."""
    file = folder.parent / f"{folder.name}.onnx"
    file.write_bytes(onnx_model(*nearest_mean(), **how).SerializeToString())
    sc.import_model(file, folder, noise=NOISE)
    return folder


@pytest.mark.parametrize(
    "name, how, says",
    [
        ("already", {}, "is quantised already; quantise the float32 network"),
        ("images", {}, r"tells 10 classes of images \(1, 8, 8\) apart, but .* has 2 of \(1, 4, 4\)"),
        ("test split", {}, "dataset is a test split, .* give the hold-out"),
        ("exists", {}, "already holds a model; choose another folder"),
        ("no data set", {}, "dataset must be a smoothcert Dataset"),
        ("precision", {"precision": "int4"}, "precision must be one of int8, bfloat16, got 'int4'"),
        ("images 0", {"images": 0}, "images must be a positive integer, got 0"),
        ("draws", {"draws": True}, "draws must be a positive integer, got True"),
        ("seven", {"precision": "bfloat16", "seven_bits": True}, "seven_bits is about int8"),
    ],
)
def test_requests_that_make_no_sense(name, how, says, of_onnx, onnx_folder, holdout, tmp_path):
    source = of_onnx if name == "already" else onnx_folder
    out = onnx_folder if name == "exists" else tmp_path / "out"
    dataset = {
        "images": sc.Dataset.from_arrays(np.zeros((4, 1, 4, 4), dtype=np.uint8), [0, 1, 0, 1], split="train"),
        "test split": sc.load_dataset("digits"),
        "no data set": "digits",
    }.get(name, holdout)
    with pytest.raises(SmoothcertError, match=says):
        sc.quantize(source, dataset, out, **{**SMALL, **how})
    assert not (tmp_path / "out").exists()


def test_an_operator_that_cannot_be_quantised_is_named(holdout, tmp_path):
    random = imported(tmp_path / "random", nodes=[helper.make_node("RandomUniformLike", ["y"], ["u"])])
    with pytest.raises(
        InvalidArgumentError, match="its operator RandomUniformLike has no form in fewer bits"
    ):
        sc.quantize(random, holdout, tmp_path / "out", **SMALL)
    assert not (tmp_path / "out").exists()


def test_heads_that_vote_apart_are_refused_with_what_to_quantise(holdout, tmp_path):
    heads = save_network(tmp_path / "heads", 3, architecture="resnet8", heads=2, split="stage3")
    sc.save_ensemble([heads], tmp_path / "apart", rule="hard")
    with pytest.raises(InvalidArgumentError, match=r"heads of one network, .*; quantise .*heads"):
        sc.quantize(tmp_path / "apart", holdout, tmp_path / "out", **SMALL)


@pytest.fixture
def folder(of_onnx, tmp_path):
    """A copy of a folder in int8, to be changed."""
    return shutil.copytree(of_onnx, tmp_path / "copy")


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(bytes(content))


def test_a_changed_onnx_file_is_refused(folder):
    model = onnx.load(folder / "model.onnx")
    weights = next(
        one for one in model.graph.initializer if one.data_type == TensorProto.INT8 and len(one.dims) == 2
    )
    weights.raw_data = bytes([weights.raw_data[0] ^ 1]) + weights.raw_data[1:]
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match=r"model.onnx has digest .*, but its card says .*: restore it"):
        sc.load_classifier(folder)


def test_weights_outside_of_the_folder_are_refused(folder, tmp_path):
    model = onnx.load(folder / "model.onnx")
    weights = next(
        one for one in model.graph.initializer if one.data_type == TensorProto.INT8 and len(one.dims) == 2
    )
    (tmp_path / "elsewhere.bin").write_bytes(weights.raw_data)
    weights.ClearField("raw_data")
    weights.data_location = TensorProto.EXTERNAL
    weights.external_data.add(key="location", value="../elsewhere.bin")
    (folder / "model.onnx").write_bytes(model.SerializeToString())
    with pytest.raises(CheckpointError, match=r"another file, '\.\./elsewhere\.bin'"):
        sc.load_classifier(folder)


@pytest.mark.parametrize("what", ["bytes", "gone", "answers"])
def test_a_changed_probe_is_refused(what, folder):
    path = folder / "probe.safetensors"
    if what == "gone":
        path.unlink()
    elif what == "bytes":
        flip(path, -1)
    else:
        probe = read_probe(read_card(folder), path)
        path.write_bytes(probe_content(Probe(probe.images, {"onnx": -probe.answers["onnx"]})))
    with pytest.raises(CheckpointError, match=r"probe\.safetensors"):
        sc.load_classifier(folder)


def of_another_machine(folder, change):
    """Let the folder say that its engines answered otherwise where it was made."""
    path = folder / "probe.safetensors"
    probe = read_probe(read_card(folder), path)
    content = probe_content(Probe(probe.images, {name: change(one) for name, one in probe.answers.items()}))
    path.write_bytes(content)
    card = json.loads((folder / "model.json").read_text())
    card["quantized"]["probe"] = probe_digest(content)
    (folder / "model.json").write_text(json.dumps(card))


def saturated(answers):
    """A few sums a little smaller, as where int8 products are cut off."""
    changed = answers.clone()
    changed[::7] -= 0.02 * (answers.max() - answers.min())
    return changed


def test_a_machine_that_answers_the_probe_otherwise_is_refused(folder, digits):
    of_another_machine(folder, saturated)
    with pytest.raises(
        InvalidArgumentError, match=r"images of its probe by another class.*; quantise it here"
    ):
        sc.load_classifier(folder).certify(digits.image(0), **FAST)


def test_rounding_of_the_last_bits_is_no_reason(folder, digits):
    of_another_machine(folder, lambda answers: answers * (1 + 1e-6))
    assert sc.load_classifier(folder).certify(digits.image(0), **FAST).precision == "int8"


@needs_openvino
def test_an_engine_that_could_not_run_it_there_stands_back_for_one_that_could(folder, digits, caplog):
    """The certificate has the name of the engine that voted."""
    path = folder / "probe.safetensors"
    probe = read_probe(read_card(folder), path)
    content = probe_content(Probe(probe.images, {"onnx": probe.answers["onnx"]}))
    path.write_bytes(content)
    card = json.loads((folder / "model.json").read_text())
    card["quantized"] |= {"probe": probe_digest(content), "runtime": "openvino"}
    (folder / "model.json").write_text(json.dumps(card))
    certificate = sc.load_classifier(folder).certify(digits.image(0), **FAST)
    assert certificate.engine == "onnx"
    assert "it was quantised where openvino could not run it" in caplog.text


@pytest.mark.parametrize("engine", ["torch", "compiled", "autocast"])
def test_engines_without_int8_are_refused_by_name(engine, of_onnx, digits):
    with pytest.raises(
        SmoothcertError, match=rf"engine '{engine}' cannot run a network in int8; .* onnx, openvino"
    ):
        sc.load_classifier(of_onnx).certify(digits.image(0), engine=engine, **FAST)


@pytest.fixture
def float_run(onnx_folder, digits, tmp_path):
    """A run of the network in float32."""
    classifier = sc.load_classifier(onnx_folder)
    sc.certify(classifier, digits, indices=FIRST, out=tmp_path / "run", engine="onnx", **FAST)
    return tmp_path / "run"


def test_another_model_is_named_before_the_engine_that_does_not_run_it(of_onnx, digits, tmp_path):
    """A run keeps to its engine, here torch, which has no int8: that is not what is wrong."""
    original = sc.load_classifier(save_network(tmp_path / "float32", seed=3))
    sc.certify(original, digits, indices=FIRST, out=tmp_path / "run", engine="torch", **FAST)
    quantised = sc.load_classifier(of_onnx)
    with pytest.raises(ManifestMismatchError, match=r"cannot resume .*run: model was '"):
        sc.certify(quantised, digits, indices=FIRST, out=tmp_path / "run", resume=True, **FAST)
    how = {"procedure": FAST["procedure"], "seed": 2, "indices": FIRST, "engine": "torch"}
    plan = sc.plan_run(original, digits, tmp_path / "plan.json", **how)
    with pytest.raises(ManifestMismatchError, match=r"cannot draw a shard of .*plan.json: model was '"):
        sc.certify_shard(quantised, digits, plan, out=tmp_path / "shard", workers=1)
    with pytest.raises(SmoothcertError, match="engine 'torch' cannot run a network in int8"):
        sc.certify(quantised, digits, indices=FIRST, out=tmp_path / "new", **{**FAST, "engine": "torch"})


def test_the_original_certifies_nothing_of_the_quantised_one(float_run, of_onnx, digits):
    """The canary: neither continued nor audited as the other, nor with the name of the other written into it."""
    quantised = sc.load_classifier(of_onnx)
    with pytest.raises(ManifestMismatchError, match="model"):
        sc.certify(quantised, digits, indices=range(4), out=float_run, resume=True, engine="onnx", **FAST)
    how = {"model": of_onnx, "fraction": 1.0, "workers": 1}
    assert sc.audit(float_run, **how).trust is Trust.NOT_TRUSTED
    identity = quantised.certify(digits.image(0), engine="onnx", **FAST).model
    write(
        float_run,
        ("UPDATE manifest SET value = ? WHERE field = 'model'", (json.dumps(identity),)),
        "INSERT INTO manifest VALUES ('precision', '\"int8\"')",
    )
    seal_again(float_run)
    report = sc.audit(float_run, **how)
    assert report.trust is not Trust.TRUSTED, report.line


def test_bfloat16_needs_a_processor_that_has_it(onnx_folder, holdout, tmp_path):
    if this_processor().bfloat16:
        pytest.skip("this processor has it")
    with pytest.raises(InvalidArgumentError, match=r"nothing here runs a network in bfloat16 .*; install"):
        sc.quantize(onnx_folder, holdout, tmp_path / "out", precision="bfloat16", **SMALL)
    assert not (tmp_path / "out").exists()


def test_a_precision_that_nothing_here_has_is_refused_before_any_work(holdout, tmp_path, monkeypatch):
    def unable(*_):
        raise CheckpointError("OpenVINO would calculate in f32 here instead of bfloat16")

    monkeypatch.setattr(QuantizedNetwork, "openvino_graph", unable)
    with pytest.raises(
        InvalidArgumentError, match=r"nothing here runs a network in bfloat16 .*would calculate"
    ):
        sc.quantize(tmp_path / "never read", holdout, tmp_path / "out", precision="bfloat16", **SMALL)


@needs_openvino
def test_bfloat16_is_certified_as_itself(onnx_folder, holdout, digits, tmp_path):
    if not this_processor().bfloat16:
        pytest.skip("this processor has no bfloat16")
    card = sc.quantize(onnx_folder, holdout, tmp_path / "out", precision="bfloat16", **SMALL)
    assert (card.quantized.chosen, card.quantized.runtime) == (None, "openvino")
    run = sc.certify(
        sc.load_classifier(tmp_path / "out"), digits, indices=FIRST, out=tmp_path / "run", **FAST
    )
    assert (run.manifest["precision"], run.manifest["engine"]) == ("bfloat16", "openvino")
    assert sc.audit(tmp_path / "run", fraction=1.0, workers=1).trust is Trust.TRUSTED


def test_weights_of_a_bfloat16_file_are_rounded_in_the_file():
    model = onnx.load_model_from_string(bfloat16_graph(onnx_model(*nearest_mean())))
    before = {
        one.name: onnx.numpy_helper.to_array(one) for one in onnx_model(*nearest_mean()).graph.initializer
    }
    for one in model.graph.initializer:
        values = torch.from_numpy(onnx.numpy_helper.to_array(one).copy())
        assert torch.equal(values.bfloat16().float(), values)
        exact = torch.from_numpy(before[one.name].copy())
        assert ((values - exact).abs() <= exact.abs() * 2**-8).all()
