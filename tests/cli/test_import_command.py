"""`smoothcert import`: a published file becomes a folder that `certify` takes; mistakes get a sentence."""

import json

import pytest
import torch
from torch import nn

import smoothcert as sc
from published_networks import LeNet, Normalise, cifar_resnet, drawn


@pytest.fixture
def checkpoint(tmp_path):
    model = nn.Sequential(Normalise(), drawn(cifar_resnet(8)))
    content = {
        "epoch": 90,
        "arch": "cifar_resnet20",
        "state_dict": model.state_dict(),
        "optimizer": {"state": {}},
    }
    torch.save(content, tmp_path / "checkpoint.pth.tar")
    return tmp_path / "checkpoint.pth.tar"


def test_a_file_becomes_a_model_folder_and_what_was_done_is_said(smoothcert, checkpoint, tmp_path):
    told = ["--family", "cohen", "--dataset", "cifar10", "--sigma", "0.25", "--arch", "resnet8"]
    code, out, err = smoothcert("import", checkpoint, *told, "--out", tmp_path / "m")
    assert (code, err) == (0, "")
    for words in (
        "resnet8, 10 classes",
        "56 tensors of checkpoint.pth.tar placed, none left over",
        "family: cohen",
    ):
        assert words in out
    for words in ("prefixes taken off: 1.", "dropped: epoch 90, optimizer", "mean (0.4914, 0.4822, 0.4465)"):
        assert words in out
    card = json.loads((tmp_path / "m" / "model.json").read_text())
    assert (card["method"], card["noise"]) == ("imported", {"name": "gaussian", "sigma": 0.25})
    assert sc.load_classifier(tmp_path / "m").num_classes == 10


def test_families_that_agree_need_not_be_named(smoothcert, tmp_path):
    torch.save({"net": drawn(LeNet()).state_dict(), "epoch": 440}, tmp_path / "440.pth")
    code, out, _ = smoothcert("import", tmp_path / "440.pth", "--sigma", "0.25", "--out", tmp_path / "m")
    assert code == 0
    assert "family: macer or sween" in out


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (["--sigma", "0.25"], "calls its network 'cifar_resnet20', but its weights are those of resnet8"),
        (["--arch", "resnet8", "--dataset", "cifar10"], "sigma"),
        (["--arch", "resnet8", "--sigma", "0.25"], "--dataset NAME"),
        (["--arch", "resnet8", "--sigma", "0.25", "--dataset", "cifar10"], "--family NAME"),
        (["--arch", "resnet8", "--sigma", "0.25", "--mean", "x", "--std", "1"], "--mean must be numbers"),
        (["--arch", "resnet8", "--sigma", "0.25", "--mean", "nan", "--std", "1"], "finite"),
        (["--arch", "resnet8", "--sigma", "-1", "--no-normalize"], "sigma"),
        (["--arch", "resnet8", "--sigma", "1", "--no-normalize", "--num-classes", "3"], "has 10 classes"),
    ],
)
def test_mistakes_get_one_sentence_and_leave_nothing(smoothcert, refused, checkpoint, tmp_path, told, words):
    assert words in refused(smoothcert("import", checkpoint, *told, "--out", tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_a_file_with_code_is_refused_by_the_command(smoothcert, refused, tmp_path):
    torch.save(nn.Linear(2, 2), tmp_path / "c")
    assert "could run code" in refused(
        smoothcert("import", tmp_path / "c", "--sigma", "1", "--out", tmp_path / "m")
    )


def test_the_help_has_examples(smoothcert):
    code, out, _ = smoothcert("import", "--help")
    assert code == 0
    assert "smoothcert import checkpoint.pth.tar --family cohen" in " ".join(out.split())
