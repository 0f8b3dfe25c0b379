"""Arguments in a card never send a factory to code that the user did not name."""

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import CheckpointError
from smoothcert.folders import told_places

NOISE, SHAPE = sc.Gaussian(0.25), (4,)
HUB = "import pathlib\nfrom torch import nn\npathlib.Path({ran!r}).touch()\ndef m():\n    return nn.Linear(4, 2)\n"


@pytest.mark.parametrize("text", ["/a/b", "owner/repo", "c:net", "a\\b", "https://x", ".", "here"])
def test_what_reads_like_a_place(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here").mkdir()
    assert told_places({"width": 3, "repo": text, "name": "resnet18"}).startswith("repo=")


def test_plain_arguments_are_none(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (
        told_places({"width": 3, "name": "resnet18.a1_in1k", "no": None, "empty": "", "wide": True}) is None
    )


def test_a_repository_that_only_the_card_names_is_not_run(tmp_path):
    repository, ran = tmp_path / "hub", tmp_path / "ran"
    repository.mkdir()
    (repository / "hubconf.py").write_text(HUB.format(ran=str(ran)))
    arguments = {"repo_or_dir": str(repository), "model": "m", "source": "local"}
    sc.import_model("torch.hub:load", tmp_path / "m", noise=NOISE, input_shape=SHAPE, arguments=arguments)
    ran.unlink()
    with pytest.raises(CheckpointError, match=r"may name other code or files; .*--factory-args .* --weights"):
        sc.load_classifier(tmp_path / "m", factories=["torch.hub:load"])
    assert not ran.exists()
    said = sc.load_classifier("torch.hub:load", arguments=arguments, weights=tmp_path / "m")
    assert ran.exists()
    assert said.model(torch.zeros(1, 4)).shape == (1, 2)


def test_members_of_two_files_of_one_name_are_each_their_own(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    net = "from torch import nn\nclass Net(nn.Linear):\n  def forward(self, x):\n    return {} * super().forward(x)\n"
    for place, sign in (("c", 1), ("d", -1)):
        (tmp_path / place).mkdir()
        (tmp_path / place / "net.py").write_text(net.format(sign) + "def make():\n    return Net(4, 2)\n")
        sc.import_model(f"{place}/net.py:make", f"m_{place}", noise=NOISE, input_shape=SHAPE)
    both, x = ["c/net.py:make", "d/net.py:make"], torch.ones(1, 4)
    for factories in (both, both[::-1]):
        for place, sign in (("c", 1), ("d", -1)):
            model = sc.load_model(f"m_{place}", factories=factories)[0]
            assert torch.equal(model(x), sign * torch.nn.functional.linear(x, model.weight, model.bias))
