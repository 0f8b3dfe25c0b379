"""Files and factories certified from Python: resumed, audited, described, and looked at for their normalisation."""

import logging
import sqlite3
from contextlib import closing
from dataclasses import replace

import pytest
import torch
from tests.own_models import save_net, save_onnx

import smoothcert as sc
from smoothcert.engines import Processor
from smoothcert.folders.own.factory import build
from smoothcert.folders.own.factory_name import FactoryName
from smoothcert.report import describe_lines
from smoothcert.workflows import describe

NOISE = sc.Gaussian(0.25)
FEW = {"procedure": sc.FixedSample(n0=20, n=100), "seed": 7, "workers": 1, "indices": range(3)}


@pytest.fixture(scope="module")
def digits():
    return sc.load_dataset("digits")


@pytest.fixture
def net(tmp_path):
    file, marker = save_net(tmp_path)
    torch.manual_seed(2)
    torch.save(build(FactoryName.read(f"{file}:make"), {}).state_dict(), tmp_path / "net.pt")
    marker.unlink()
    return f"{file}:make", marker


def load(net, tmp_path):
    return sc.load_classifier(net, weights=tmp_path / "net.pt", noise=NOISE, input_shape=(1, 8, 8))


def test_an_onnx_file_is_certified_resumed_and_audited(tmp_path, digits):
    path = save_onnx(tmp_path / "net.onnx", mean=0.3, std=0.5)
    how = {"noise": NOISE, "mean": [0.3], "std": [0.5]}
    run = sc.certify(sc.load_classifier(path, **how), digits, out=tmp_path / "run", **FEW)
    assert run.manifest["source"] == {"kind": "onnx", "name": "net.onnx", "mean": [0.3], "std": [0.5]}
    assert run.manifest["engine"] == "onnx"
    again = sc.certify(sc.load_classifier(path, **how), digits, out=tmp_path / "run", resume=True, **FEW)
    assert again.column("radius") == run.column("radius")
    other = sc.load_classifier(path, noise=NOISE)
    with pytest.raises(sc.errors.ManifestMismatchError, match="source"):
        sc.certify(other, digits, out=tmp_path / "run", resume=True, **FEW)
    report = sc.audit(tmp_path / "run")
    assert (report.trust.name, report.redrawn, report.findings) == ("TRUSTED", 360, [])
    path.rename(tmp_path / "moved.onnx")
    assert sc.audit(tmp_path / "run").trust.name == "UNDECIDED"
    assert sc.audit(tmp_path / "run", model=tmp_path / "moved.onnx").trust.name == "TRUSTED"
    save_onnx(path)
    assert sc.audit(tmp_path / "run").trust.name == "NOT_TRUSTED"


def test_a_factory_s_network_is_audited_where_the_user_lets_it_run(tmp_path, digits, net):
    name, marker = net
    run = sc.certify(load(name, tmp_path), digits, out=tmp_path / "run", **FEW)
    assert run.manifest["source"] == {"kind": "factory", "name": "net.py:make", "weights": "net.pt"}
    again = sc.certify(load(name, tmp_path), digits, out=tmp_path / "run", resume=True, **FEW)
    assert again.column("radius") == run.column("radius")
    marker.unlink()
    report = sc.audit(tmp_path / "run")
    assert report.trust.name == "UNDECIDED"
    assert any("--factory net.py:make" in line for line in (report.line, *report.lines()))
    assert sc.audit(tmp_path / "run", factories=["other.py:make"]).trust.name == "UNDECIDED"
    assert not marker.exists()
    report = sc.audit(tmp_path / "run", factories=[name])
    assert (report.trust.name, report.redrawn) == ("TRUSTED", 360)
    assert marker.exists()
    file = tmp_path / "net.py"
    file.write_text(file.read_text().replace(".relu()", ".tanh()"))
    assert sc.audit(tmp_path / "run", factories=[name]).trust.name == "NOT_TRUSTED"


def test_a_run_cannot_call_a_factory_a_file(tmp_path, digits, net):
    """A run that says that its ONNX file was at a place that reads like the name of a factory."""
    name, marker = net
    path = save_onnx(tmp_path / "net.onnx")
    sc.certify(sc.load_classifier(path, noise=NOISE), digits, out=tmp_path / "run", **FEW)
    path.rename(tmp_path / "net.py:make")  # a file of that name stands beside net.py
    with closing(sqlite3.connect(tmp_path / "run" / "run.sqlite")) as database, database:
        database.execute("UPDATE origin SET value = '../net.py:make' WHERE field = 'model'")
    assert sc.audit(tmp_path / "run").trust.name == "TRUSTED"  # read as the file that it is
    (tmp_path / "net.py:make").write_text("no ONNX file")
    assert sc.audit(tmp_path / "run").trust.name == "NOT_TRUSTED"
    assert name.endswith("net.py:make")
    assert not marker.exists()


def test_a_folder_s_factory_is_not_run_by_an_audit(tmp_path, digits, net):
    name, marker = net
    sc.import_model(name, tmp_path / "a", weights=tmp_path / "net.pt", noise=NOISE, input_shape=(1, 8, 8))
    classifier = sc.load_classifier(tmp_path / "a", factories=[name])
    run = sc.certify(classifier, digits, out=tmp_path / "run", **FEW)
    assert "source" not in run.manifest
    marker.unlink()
    assert sc.audit(tmp_path / "run").trust.name == "UNDECIDED"
    assert not marker.exists()
    assert sc.audit(tmp_path / "run", factories=[name]).trust.name == "TRUSTED"


def test_a_manifest_that_says_nonsense_about_its_source_is_refused(tmp_path):
    from smoothcert.store.manifest_fields import check_fields

    digits = sc.load_dataset("digits")
    run = sc.certify(sc.load_classifier(save_onnx(tmp_path / "net.onnx"), noise=NOISE), digits, **FEW)
    check_fields(run.manifest)
    for source in (None, {}, {"kind": "pickle", "name": "x"}, {"kind": "onnx", "name": "x", "code": "y"}, 3):
        with pytest.raises(ValueError, match="source"):
            check_fields({**run.manifest, "source": source})


def warned(path, digits, caplog, **how):
    caplog.clear()
    with caplog.at_level(logging.WARNING, "smoothcert"):
        sc.certify(sc.load_classifier(path, noise=NOISE, **how), digits, **{**FEW, "indices": range(80)})
    return [message for message in caplog.messages if "noisy images of digits" in message]


def test_a_normalisation_that_is_missing_is_told(tmp_path, digits, caplog):
    numbers = {"mean": [0.5], "std": [0.1]}
    pixels = save_onnx(tmp_path / "pixels.onnx")
    normalised = save_onnx(tmp_path / "normalised.onnx", mean=0.5, std=0.1)
    assert warned(pixels, digits, caplog) == []
    assert warned(normalised, digits, caplog, **numbers) == []
    (missing,) = warned(normalised, digits, caplog)
    assert "expect normalised images" in missing


def test_a_normalisation_that_is_doubled_is_told(tmp_path, digits, caplog):
    clips = save_onnx(tmp_path / "clips.onnx", clips=True)
    assert warned(clips, digits, caplog) == []
    (doubled,) = warned(clips, digits, caplog, mean=[0.9], std=[0.05])
    assert "leave mean and std out" in doubled


def test_models_of_this_package_are_not_looked_at(model_folder, digits, caplog, monkeypatch):
    from smoothcert.workflows import normalisation

    monkeypatch.setattr(normalisation, "doubtful_normalisation", None)
    sc.certify(sc.load_classifier(model_folder), digits, **FEW)


def test_what_is_understood(tmp_path, digits, net):
    path = save_onnx(tmp_path / "net.onnx", mean=0.3, std=0.5)
    classifier = sc.load_classifier(path, noise=NOISE, mean=[0.3], std=[0.5])
    told = describe(classifier, digits)
    assert (told.kind, told.name, told.engine, told.num_classes) == ("onnx", "net.onnx", "onnx", 10)
    assert (told.parameters, told.multiply_adds, told.input_shape) == (650, None, (1, 8, 8))
    assert told.mean == pytest.approx([0.3])
    assert told.answers[0][0] == str(digits.labels[0])
    assert told.answers[0][1] > 0.5
    assert told.warnings == ()
    half_told = replace(told, processor=Processor(int8=True, bfloat16=None)).to_json()
    assert "processor       int8 yes, bfloat16 not known (own instructions)" in describe_lines(half_told, "x")
    own = describe(load(net[0], tmp_path))
    assert (own.kind, own.network, own.parameters, own.multiply_adds) == ("factory", "Net", 310, 296)
    assert (own.image, own.trained_on) == ("a grey image", ())
    assert sum(share for _, share in own.answers) <= 1


def test_an_audit_calls_no_factory_with_places_that_only_the_run_names(tmp_path, digits):
    file, marker = save_net(tmp_path)
    with file.open("a") as text:
        text.write("\n\ndef placed(repository):\n    return make()\n")
    name, arguments = f"{file}:placed", {"repository": "somebody/else"}
    torch.manual_seed(2)
    classifier = sc.load_classifier(name, arguments=arguments, noise=NOISE, input_shape=(1, 8, 8))
    sc.certify(classifier, digits, out=tmp_path / "run", **FEW)
    marker.unlink()
    for given in ({"factories": [name]}, {"model": name}):
        report = sc.audit(tmp_path / "run", **given)
        assert report.trust.name == "UNDECIDED"
        told = " ".join((report.line, *report.lines()))
        assert "repository='somebody/else', which may name other code" in told
    assert not marker.exists()
    assert sc.audit(tmp_path / "run", model=classifier).trust.name == "TRUSTED"
    with pytest.raises(sc.errors.StoreError, match="several files"):
        sc.audit(tmp_path / "run", factories=["c/net.py:placed", "d/net.py:placed"])
