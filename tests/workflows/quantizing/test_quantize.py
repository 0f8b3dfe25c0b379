"""From folders in float32 to folders in int8: what the file computes, what the card says, what both can do."""

import shutil

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator
from tests.small_networks import save_denoised, save_network

import smoothcert as sc
from marks import needs_openvino
from smoothcert.ensembles import Holdout
from smoothcert.errors import SmoothcertError
from smoothcert.folders import read_any_card, read_card
from smoothcert.networks import quantized_parts
from smoothcert.workflows import Trust
from workflows.quantizing.conftest import NOISE, SMALL

FAST = {"procedure": sc.FixedSample(n0=20, n=300), "seed": 2, "workers": 1}
FIRST = range(3)


def noisy(shape=(1, 8, 8), rows=64):
    generator = torch.Generator().manual_seed(0)
    return 0.4 + 0.4 * torch.randn(rows, *shape, generator=generator)


def tensors_of(folder):
    model = onnx.load(folder / "model.onnx")
    return model, {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}


def test_the_card_says_from_what_and_with_what(int8_folder, model_folder, holdout):
    card, before = read_card(int8_folder), read_card(model_folder)
    entry = card.quantized
    assert (int8_folder / entry.original).resolve() == model_folder.resolve()
    assert (entry.precision, entry.original_digest) == ("int8", before.digest)
    assert (entry.holdout.purpose, entry.holdout.digest, entry.holdout.images) == (
        "quantisation",
        holdout.digest,
        SMALL["images"],
    )
    assert entry.holdout.seed == SMALL["seed"]
    assert len(entry.candidates) == 7
    floats = {one.float_layers for one in entry.candidates}
    assert floats == {(), ("first",), ("last",), ("first", "last")}
    assert entry.chosen in entry.candidates
    assert entry.chosen.difference <= min(one.difference for one in entry.candidates if not one.float_layers)
    assert set(entry.microseconds) >= {"onnx"}
    assert entry.runtime == min(entry.microseconds, key=entry.microseconds.get)
    assert "onnxruntime" in entry.versions
    assert (card.noise, card.class_names, card.dataset) == (before.noise, before.class_names, before.dataset)


def test_figures_are_those_of_both_on_the_same_noisy_images(of_onnx, onnx_folder, holdout):
    """Drawn again from the seed in the card."""
    entry = read_card(of_onnx).quantized
    answers = []
    for folder in (onnx_folder, of_onnx):
        model = sc.load_classifier(folder).model
        how = {"images": entry.holdout.images, "draws": entry.holdout.draws, "seed": entry.holdout.seed}
        logits, labels = Holdout((model,), NOISE, holdout, **how).outputs()
        assert len(logits) == SMALL["images"] * SMALL["draws"]
        answers.append(logits[:, 0].argmax(dim=1))
    before, after = answers
    assert entry.accuracy_before == float((before == labels).double().mean())
    # Engines round at other places: one answer of the 120 may be another.
    assert entry.accuracy_after == pytest.approx(float((after == labels).double().mean()), abs=0.01)
    assert entry.agreement == pytest.approx(float((after == before).double().mean()), abs=0.01)


def test_weights_are_int8_by_channel_and_activations_uint8(int8_folder):
    model, tensors = tensors_of(int8_folder)
    makers = {name: node for node in model.graph.node for name in node.output}
    kept = len(read_card(int8_folder).quantized.chosen.float_layers)
    layers = [node for node in model.graph.node if node.op_type in ("Conv", "Gemm", "MatMul")]
    in_int8 = 0
    for node in layers:
        weight = makers.get(node.input[1])
        if weight is None:
            assert tensors[node.input[1]].dtype == np.float32
            continue
        assert weight.op_type == "DequantizeLinear"
        values, scales = tensors[weight.input[0]], tensors[weight.input[1]]
        assert values.dtype == np.int8
        assert scales.size in values.shape
        assert scales.size > 1
        assert makers[node.input[0]].op_type == "DequantizeLinear"
        in_int8 += 1
    assert in_int8 == len(layers) - kept > 0
    zeros = [tensors[node.input[2]].dtype for node in model.graph.node if node.op_type == "QuantizeLinear"]
    assert set(zeros) == {np.dtype("uint8")}
    assert not any(
        node.op_type == "QuantizeLinear" and model.graph.output[0].name in node.output
        for node in model.graph.node
    )


def test_seven_bits_are_half_the_range(of_onnx):
    _, tensors = tensors_of(of_onnx)
    weights = [value for value in tensors.values() if value.dtype == np.int8 and value.ndim == 2]
    assert [int(np.abs(one.astype(int)).max()) for one in weights] == [64]
    assert read_card(of_onnx).quantized.seven_bits


@pytest.mark.parametrize("engine", ["onnx", pytest.param("openvino", marks=needs_openvino)])
def test_the_file_means_what_onnx_says_it_means(of_onnx, engine):
    """Against ONNX's own reference in NumPy, which knows no integer kernels and no saturation."""
    images = noisy(rows=200)
    model = onnx.load(of_onnx / "model.onnx")
    model.opset_import[0].version = 21  # the first that the reference knows, with the same meaning
    (expected,) = ReferenceEvaluator(model).run(None, {model.graph.input[0].name: images.numpy()})
    network = sc.load_classifier(of_onnx).model
    got = network(images) if engine == "onnx" else network.openvino_graph((200,)).run(images)
    spread = expected.max() - expected.min()
    # A value that lies at the border of two steps may be rounded either way: one step of one input.
    assert np.abs(got.numpy() - expected).max() < 0.02 * spread
    assert (got.numpy().argmax(axis=1) == expected.argmax(axis=1)).mean() > 0.98


def test_it_certifies_is_audited_and_exported_like_any_model(int8_folder, digits, tmp_path):
    classifier = sc.load_classifier(int8_folder)
    run = sc.certify(classifier, digits, indices=FIRST, out=tmp_path / "run", **FAST)
    one = classifier.certify(
        digits.image(0), FAST["procedure"], seed=2, index=0, engine=run.manifest["engine"]
    )
    assert one.precision == run.manifest["precision"] == "int8"
    assert (one.model, one.engine) == (run.manifest["model"], run.manifest["engine"])
    package = {"onnx": "onnxruntime"}.get(one.engine, one.engine)
    assert package in run.manifest["versions"]
    report = sc.audit(tmp_path / "run", fraction=1.0, workers=1)
    assert report.trust is Trust.TRUSTED, report.line
    again = sc.certify(classifier, digits, indices=FIRST, out=tmp_path / "run", resume=True, **FAST)
    assert again.to_frame().equals(run.to_frame())


def test_votes_are_those_of_the_deployed_file(of_onnx, digits):
    """What another program answers that loads the file by itself, on the same noise."""
    session = onnxruntime.InferenceSession(of_onnx / "model.onnx", providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name

    def deployed(batch):
        return torch.from_numpy(session.run(None, {name: batch.numpy()})[0])

    how = {"procedure": sc.FixedSample(n0=20, n=500), "seed": 4}
    ours = sc.load_classifier(of_onnx).certify(digits.image(0), engine="onnx", **how)
    theirs = sc.SmoothedClassifier(deployed, NOISE, 10).certify(digits.image(0), **how)
    assert ours.counts == theirs.counts


def test_heads_and_denoisers_become_one_file(holdout, digits, tmp_path):
    heads = save_network(tmp_path / "heads", 3, architecture="resnet8", heads=2, split="stage3")
    save_denoised(save_network(tmp_path / "plain", 4), tmp_path / "denoised")
    for source in (heads, tmp_path / "denoised"):
        out = tmp_path / f"{source.name}-int8"
        card = sc.quantize(source, holdout, out, images=20, draws=1, seed=1)
        assert (card.heads, card.denoised) == (None, None)
        assert card.quantized.agreement > 0.5
        assert sc.load_classifier(out).certify(digits.image(0), **FAST).precision == "int8"


def test_an_ensemble_is_quantised_member_by_member(onnx_folder, of_onnx, holdout, digits, tmp_path):
    members = [onnx_folder, onnx_folder]
    sc.save_ensemble(members, tmp_path / "float32", rule="softmax", weights=[0.25, 0.75])
    sc.quantize(tmp_path / "float32", holdout, tmp_path / "int8", seven_bits=True, **SMALL)
    card = read_any_card(tmp_path / "int8")
    assert (card.rule, tuple(card.weights)) == ("softmax", (0.25, 0.75))
    parts = list(quantized_parts(sc.load_classifier(tmp_path / "int8").model))
    assert [part.precision for part in parts] == ["int8", "int8"]
    alone = next(quantized_parts(sc.load_classifier(of_onnx).model))
    assert parts[0].digest() == alone.digest()  # the same images, noise and seed
    run = sc.certify(
        sc.load_classifier(tmp_path / "int8"), digits, indices=FIRST, out=tmp_path / "run", **FAST
    )
    assert run.manifest["precision"] == "int8"
    assert sc.audit(tmp_path / "run", fraction=1.0, workers=1).trust is Trust.TRUSTED


def test_it_joins_ensembles_with_networks_in_float32(of_onnx, model_folder, digits, tmp_path):
    sc.save_ensemble([of_onnx, model_folder], tmp_path / "both")
    certificate = sc.load_classifier(tmp_path / "both").certify(digits.image(0), **FAST)
    assert certificate.precision == "float32+int8"


def test_images_that_chose_stay_refused_in_ensembles(of_onnx, model_folder, holdout, tmp_path):
    """Accuracy on them would be too good, whoever votes beside."""
    sc.save_ensemble([of_onnx, model_folder], tmp_path / "both")
    for folder in (of_onnx, tmp_path / "both"):
        with pytest.raises(SmoothcertError, match="that chose this model's quantisation"):
            sc.certify(sc.load_classifier(folder), holdout, indices=FIRST, **FAST)


def test_an_attack_climbs_through_the_original_and_is_judged_by_the_quantised_one(
    int8_folder, model_folder, digits, tmp_path
):
    classifier, original = sc.load_classifier(int8_folder), sc.load_classifier(model_folder)
    climbed = classifier.model.surrogate()
    batch = noisy()
    assert torch.equal(climbed(batch), original.model(batch))
    found = sc.attack_images(
        classifier,
        digits,
        radii=[0.5],
        indices=range(2),
        out=tmp_path / "attack",
        steps=3,
        m=16,
        n=200,
        seed=1,
    )
    assert found.accuracy(0.5) <= found.accuracy(0)


def test_one_moved_away_from_its_original_cannot_be_attacked(of_onnx, digits, tmp_path):
    alone = shutil.copytree(of_onnx, tmp_path / "far" / "alone")
    classifier = sc.load_classifier(alone)
    assert classifier.certify(digits.image(0), **FAST).precision == "int8"
    with pytest.raises(SmoothcertError, match=r"was quantised from .* which cannot be loaded"):
        classifier.model.surrogate()
