"""Helpers beside a factory's file: its own, as they are now, and gone afterwards."""

import sys
from types import ModuleType

import pytest
import torch

from smoothcert.errors import FactoryError
from smoothcert.folders import FactoryName
from smoothcert.folders.own.factory import build

NET = """
from torch import nn
from helping_layers import sign
class Net(nn.Module):
    def forward(self, batch):
        return sign() * batch
def make():
    return Net()
"""
LATE = NET.replace("from helping_layers import sign\n", "").replace(
    "def make():", "def make():\n    global sign\n    from helping_layers import sign"
)
HELPER = "from helping_parts.value import VALUE\ndef sign():\n    return VALUE\n"


def write(folder, value, net=NET, package=False):
    """Write a net whose answer is decided two helpers away, one of them in a plain folder."""
    (folder / "helping_parts").mkdir(parents=True)
    (folder / "net.py").write_text(net)
    (folder / "helping_parts" / "value.py").write_text(f"VALUE = {value}\n")
    if package:
        (folder / "helping_layers").mkdir()
    (folder / ("helping_layers/__init__.py" if package else "helping_layers.py")).write_text(HELPER)


def answer(folder):
    return float(build(FactoryName.read(f"{folder}/net.py:make"), {})(torch.ones(1)))


@pytest.mark.parametrize("net", [NET, LATE], ids=["at the top", "in the factory"])
@pytest.mark.parametrize("package", [False, True])
def test_each_file_gets_the_helpers_beside_it(tmp_path, net, package):
    write(tmp_path / "a", 1, net)
    write(tmp_path / "b", -1, net, package)
    assert [answer(tmp_path / place) for place in "abab"] == [1, -1, 1, -1]
    assert not [name for name in sys.modules if name.startswith("helping_")]
    assert not list(tmp_path.rglob("__pycache__"))


def test_helpers_are_read_anew(tmp_path):
    write(tmp_path, 1)
    assert answer(tmp_path) == 1
    (tmp_path / "helping_parts" / "value.py").write_text("VALUE = 2\n")
    assert answer(tmp_path) == 2


def test_modules_of_the_same_name_are_back_afterwards(tmp_path, monkeypatch):
    write(tmp_path, 3)
    others = {name: ModuleType(name) for name in ("helping_layers", "helping_parts", "helping_parts.value")}
    for name, module in others.items():
        monkeypatch.setitem(sys.modules, name, module)
    assert answer(tmp_path) == 3
    assert {name: sys.modules[name] for name in others} == others
    (tmp_path / "net.py").write_text("import helping_layers\n1 / 0\n")
    with pytest.raises(FactoryError, match="ZeroDivisionError"):
        answer(tmp_path)
    assert {name: sys.modules[name] for name in others} == others


def test_names_of_packages_in_use_are_left_alone(tmp_path):
    write(tmp_path, 4)
    for name in ("torch", "pydantic", "json"):
        (tmp_path / name).mkdir()
    (tmp_path / "torch" / "__init__.py").write_text("raise RuntimeError")
    before = {
        name: module for name, module in sys.modules.items() if name.startswith(("torch", "pydantic", "json"))
    }
    assert answer(tmp_path) == 4
    assert all(sys.modules[name] is module for name, module in before.items())


def test_a_module_without_shapes_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "net.py").write_text(
        "from torch import nn\ndef make():\n    return nn.Sequential(nn.LazyLinear(2))\n"
    )
    with pytest.raises(
        FactoryError, match=r"net\.py:make returned .* parameter '0\.weight' has no shape yet"
    ):
        answer(tmp_path)
