"""Files and factories on the command line: every command that takes a model, and what is said when it cannot."""

import json

import pytest
import torch
from tests.own_models import save_net, save_onnx

import smoothcert as sc
from smoothcert.cli.options.own_model import read_arguments
from smoothcert.errors import InvalidArgumentError
from smoothcert.folders.own.factory import build
from smoothcert.folders.own.factory_name import FactoryName

FEW = ["--first", "2", "--n0", "20", "--n", "100", "--workers", "1", "--seed", "3"]
ASKED = ["--sigma", "0.25", "--dataset", "digits"]


@pytest.fixture
def net(tmp_path):
    """Options that name a factory and its weights; the mark that it leaves."""
    file, marker = save_net(tmp_path)
    torch.manual_seed(2)
    torch.save(build(FactoryName.read(f"{file}:make"), {"width": 6}).state_dict(), tmp_path / "net.pt")
    marker.unlink()
    return [f"{file}:make", "--factory-args", "width=6", "--weights", tmp_path / "net.pt"], marker


@pytest.fixture
def onnx_file(tmp_path):
    return save_onnx(tmp_path / "net.onnx")


def done(result):
    code, out, err = result
    assert code == 0, err
    return out, err


def test_an_onnx_file_from_certify_to_audit(smoothcert, onnx_file, tmp_path):
    command = ["certify", onnx_file, *ASKED, *FEW, "--out", tmp_path / "run"]
    done(smoothcert(*command))
    radii = sc.Run.open(tmp_path / "run").column("radius")
    done(smoothcert(*command, "--resume"))
    assert sc.Run.open(tmp_path / "run").column("radius") == radii
    same = sc.load_classifier(onnx_file, noise=sc.Gaussian(0.25))
    procedure = sc.FixedSample(n0=20, n=100)
    run = sc.certify(
        same, sc.load_dataset("digits"), procedure=procedure, indices=range(2), seed=3, workers=1
    )
    assert run.column("radius") == radii
    out, _ = done(smoothcert("audit", tmp_path / "run"))
    assert "can be trusted" in out


def test_a_factory_from_certify_to_audit(smoothcert, net, tmp_path):
    own, marker = net
    out, err = done(smoothcert("certify", *own, *ASKED, *FEW, "--out", tmp_path / "run"))
    assert marker.exists()
    assert ("the factory runs" in out, "the factory runs" in err) == (False, True)
    marker.unlink()
    code, out, _ = smoothcert("audit", tmp_path / "run")
    assert (code, marker.exists()) == (3, False)
    assert "--factory net.py:make" in out
    out, _ = done(smoothcert("audit", tmp_path / "run", "--factory", own[0]))
    assert "can be trusted" in out


@pytest.mark.parametrize("rule", ["soft", "hard"])
def test_an_ensemble_of_files(smoothcert, onnx_file, tmp_path, rule):
    other = save_onnx(tmp_path / "other.onnx", mean=0.05)
    command = ["ensemble", onnx_file, other, "--sigma", "0.25", "--rule", rule, "--out", tmp_path / "e"]
    done(smoothcert(*command))
    done(smoothcert(*command))  # the same once more changes nothing
    assert (tmp_path / "e" / "member-1" / "model.onnx").read_bytes() == other.read_bytes()
    done(
        smoothcert(
            "certify", tmp_path / "e", "--dataset", "digits", *FEW, "--with-members", "--out", tmp_path / "r"
        )
    )
    run = sc.Run.open(tmp_path / "r" / "ensemble")
    assert (run.manifest["engine"], len(run.manifest["ensemble"]["members"])) == ("onnx", 2)
    assert "can be trusted" in done(smoothcert("audit", tmp_path / "r" / "member-1"))[0]


def test_an_ensemble_of_a_file_and_factories(smoothcert, refused, net, onnx_file, tmp_path):
    own, marker = net
    make = ["ensemble", own[0], onnx_file, own[0], *own[1:3], "--sigma", "0.25", "--input-shape", "1,8,8"]
    weights = ["--member-weights", tmp_path / "net.pt"]
    err = refused_after_a_line(smoothcert(*make, *weights, "--out", tmp_path / "e"))
    assert "one per factory, got 1 for 2 factories" in err
    assert not (tmp_path / "e").exists()
    done(smoothcert(*make, *weights, *weights, "--out", tmp_path / "e"))
    marker.unlink()
    command = ["certify", tmp_path / "e", "--dataset", "digits", *FEW, "--out", tmp_path / "r"]
    assert "--factory" in refused(smoothcert(*command))
    assert not marker.exists()
    done(smoothcert(*command, "--factory", own[0]))
    assert "can be trusted" in done(smoothcert("audit", tmp_path / "r", "--factory", own[0]))[0]


def test_an_ensemble_that_fails_leaves_nothing(smoothcert, refused, onnx_file, tmp_path):
    other = save_onnx(tmp_path / "other.onnx")
    how = ["--sigma", "0.25", "--weights", "1,2,3", "--out", tmp_path / "e"]
    assert "weights" in refused(smoothcert("ensemble", onnx_file, other, *how))
    assert not (tmp_path / "e").exists()


def test_an_ensemble_of_folders_takes_no_facts(smoothcert, refused, model_folder, tmp_path):
    for more in (["--sigma", "0.25"], ["--num-classes", "10"], ["--member-weights", "w"]):
        err = refused(smoothcert("ensemble", model_folder, model_folder, *more, "--out", tmp_path / "e"))
        assert "is for members that are ONNX files or factories" in err


def test_prediction_and_description(smoothcert, onnx_file, net):
    out, _ = done(smoothcert("predict", onnx_file, *ASKED, "--indices", "0:2", "--n", "100", "--json"))
    assert [answer["idx"] for answer in json.loads(out)["answers"]] == [0, 1]
    out, _ = done(smoothcert("describe", onnx_file, *ASKED))
    assert "ONNX file, OnnxNetwork" in out
    assert "64 noisy copies of image 0 of digits" in out
    out, _ = done(smoothcert("describe", *net[0], "--sigma", "0.25", "--input-shape", "1,8,8", "--json"))
    told = json.loads(out)  # nothing that the factory prints is in it
    assert (told["kind"], told["image"], told["engine"]) == ("factory", "a grey image", "torch")


def test_a_model_folder_is_described_too(smoothcert, model_folder):
    told = json.loads(done(smoothcert("describe", model_folder, "--json"))[0])
    assert (told["kind"], told["trained_on"], told["image"]) == ("folder", ["digits"], "image 0 of digits")
    assert told["multiply_adds"] > 0


ATTACK = ["--first", "1", "--n", "100", "--m", "2", "--steps", "1", "--radii", "0.1"]


def test_attacks_need_gradients(smoothcert, refused, onnx_file, tmp_path):
    err = refused(smoothcert("attack", onnx_file, *ASKED, *ATTACK, "--out", tmp_path / "a"))
    assert "no gradients" in err
    assert not (tmp_path / "a").exists()


def test_a_factory_s_network_is_attacked(smoothcert, net, tmp_path):
    done(smoothcert("attack", *net[0], *ASKED, *ATTACK, "--out", tmp_path / "a"))


def refused_after_a_line(result):
    """Check a refusal that comes after code was run, which is told and may print."""
    code, out, err = result
    assert code == 2, err
    assert out == ""
    assert "Traceback" not in err
    return err.splitlines()[-1]


@pytest.mark.parametrize(
    "more, message",
    [
        ([], "--dataset is needed"),
        (["--dataset", "digits"], "noise is needed"),
        ([*ASKED, "--mean", "0.5"], "mean is given without std"),
        ([*ASKED, "--mean", "a", "--std", "1"], "--mean must be numbers"),
        ([*ASKED, "--input-shape", "1,x"], "--input-shape must be whole numbers"),
        ([*ASKED, "--input-shape", "3,8,8"], "takes images of shape"),
        ([*ASKED, "--num-classes", "7"], "answers with 10 scores"),
        ([*ASKED, "--weights", "w.pt"], "weights is for factories"),
        ([*ASKED, "--factory", "net.py:make"], "are for model folders"),
        ([*ASKED, "--engine", "torch"], "engine 'torch' cannot run an ONNX file"),
    ],
)
def test_what_does_not_go_is_said_in_a_sentence(smoothcert, refused, onnx_file, tmp_path, more, message):
    assert message in refused(smoothcert("certify", onnx_file, *FEW, *more, "--out", tmp_path / "r"))
    assert not (tmp_path / "r").exists()


def test_errors_in_the_user_s_file(smoothcert, tmp_path):
    file, _ = save_net(tmp_path, text="def make():\n    return undefined\n")
    err = refused_after_a_line(smoothcert("certify", f"{file}:make", *ASKED, *FEW, "--out", tmp_path / "r"))
    assert f"{file}, line 2: NameError: name 'undefined' is not defined" in err
    assert not (tmp_path / "r").exists()


@pytest.mark.parametrize(
    "texts, read",
    [
        ([], {}),
        (["a=1,b=2.5,c=x"], {"a": 1, "b": 2.5, "c": "x"}),
        (["a=true, b=None", "c='1'"], {"a": True, "b": None, "c": "1"}),
        (["model_name=resnet18,num_classes=10"], {"model_name": "resnet18", "num_classes": 10}),
        (["url=a=b"], {"url": "a=b"}),
    ],
)
def test_arguments_of_factories(texts, read):
    assert read_arguments(texts) == read


@pytest.mark.parametrize("text", ["a", "=1", "a b=1", "a=1,,b=2", "1a=2", "a=1,a=2"])
def test_arguments_that_are_none(text):
    with pytest.raises(InvalidArgumentError, match="--factory-args"):
        read_arguments([text])
