"""Factories of a user's own: what names one, how it is run, and whose fault an error is."""

import logging
import sys

import pytest
import torch
from tests.own_models import save_net

from smoothcert.errors import FactoryError, InvalidArgumentError
from smoothcert.folders import FactoryName, allowed, check_factories
from smoothcert.folders.own.factory import build


@pytest.mark.parametrize(
    "text, place, name, file",
    [
        ("net.py:make", "net.py", "make", True),
        ("/a/b c/net.py:Net.small", "/a/b c/net.py", "Net.small", True),
        ("timm:create_model", "timm", "create_model", False),
        ("package.module:make", "package.module", "make", False),
        ("c:/nets/net.py:make", "c:/nets/net.py", "make", True),
    ],
)
def test_names(text, place, name, file):
    read = FactoryName.read(text)
    assert (read.place, read.name, read.file is not None) == (place, name, file)
    assert str(read) == text


@pytest.mark.parametrize(
    "text", ["runs/a", "net.onnx", "net.py", ":make", "net.py:", "a/b:make", "net.py:1x", "a b:c", "x.py:a()"]
)
def test_what_names_no_factory(text):
    assert FactoryName.read(text) is None
    with pytest.raises(InvalidArgumentError, match="names no factory"):
        check_factories([text])


def test_the_same_factory_may_have_moved():
    given = check_factories(["elsewhere/net.py:make", "package:make"])
    assert allowed("net.py:make", given) is given[0]
    assert allowed("/old/place/net.py:make", given) is given[0]
    assert allowed("package:make", given) is given[1]
    for other in ("net.py:other", "other.py:make", "net:make", "package.net:make", "no name"):
        assert allowed(other, given) is None
    with pytest.raises(InvalidArgumentError, match="list of names"):
        check_factories("net.py:make")


def test_of_two_files_of_one_name_the_one_at_the_card_s_place_may_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    given = check_factories(["c/net.py:make", "d/net.py:make", "d/net.py:other"])
    for order in (given, given[::-1]):
        for place in "cd":
            for name in (
                f"{place}/net.py:make",
                f"{tmp_path}/{place}/net.py:make",
                f"./c/../{place}/net.py:make",
            ):
                assert str(allowed(name, order)) == f"{place}/net.py:make"
        with pytest.raises(
            InvalidArgumentError, match=r"several files for e/net\.py:make .[cd]/net\.py:make, [cd]/"
        ):
            allowed("e/net.py:make", order)
    twice = check_factories(["c/net.py:make", f"{tmp_path}/c/net.py:make"])
    assert str(allowed("old/net.py:make", twice)) == "c/net.py:make"


def run(text, **arguments):
    return build(FactoryName.read(str(text)), arguments)


def test_a_file_is_run_and_leaves_no_trace(tmp_path, capsys, caplog):
    file, marker = save_net(tmp_path)
    paths, known = list(sys.path), set(sys.modules)
    with caplog.at_level(logging.WARNING, "smoothcert"):
        net = run(f"{file}:make", width=8)
    assert caplog.messages == [f"running code of your own: {file}:make(width=8)"]
    assert (net.hidden.out_features, net.training, net.hidden.weight.requires_grad) == (8, False, False)
    assert marker.exists()
    assert sys.path == paths
    assert {name for name in set(sys.modules) - known if "net" in name} <= {"own_model_net"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["it-ran", "net.py"]
    captured = capsys.readouterr()
    assert (captured.out, "the factory runs" in captured.err) == ("", True)


def test_a_class_is_a_factory_and_a_plain_function_a_model(tmp_path):
    file, _ = save_net(tmp_path)
    assert type(run(f"{file}:Net", width=2)).__name__ == "Net"
    file.write_text("def make(scale):\n    return lambda batch: scale * batch.flatten(1)[:, :10]\n")
    assert torch.equal(run(f"{file}:make", scale=2.0)(torch.ones(3, 1, 8, 8)), torch.full((3, 10), 2.0))


def test_files_beside_it_can_be_imported(tmp_path):
    (tmp_path / "beside_the_net.py").write_text("WIDTH = 3\n")
    text = "import beside_the_net\nfrom torch import nn\ndef make():\n    return nn.Linear(beside_the_net.WIDTH, 2)\n"
    file, _ = save_net(tmp_path, text=text)
    try:
        assert run(f"{file}:make").in_features == 3
        assert str(tmp_path) not in sys.path
    finally:
        sys.modules.pop("beside_the_net", None)


FAULTS = {
    "def make(:\n": r"net\.py, line 1: SyntaxError",
    "import no_such_package\n": r"net\.py, line 1: ModuleNotFoundError: No module named 'no_such_package'",
    "x = 1\ny = x / 0\n": r"net\.py, line 2: ZeroDivisionError",
    "def make():\n    pass\n    raise ValueError('two\\nlines')\n": r"net\.py, line 3: ValueError: two lines",
    "import sys\nsys.exit('no')\n": r"net\.py, line 2: SystemExit: no",
    "import json\ndef make():\n    json.loads('{')\n": r"net\.py, line 3: JSONDecodeError",
    "def make(width):\n    pass\n": r"TypeError: make\(\) missing 1 required positional argument: 'width'",
    "x = 1\n": r"net\.py has no 'make'",
    "make = 3\n": r"is 3, which cannot be called",
    "def make():\n    return None\n": r"returned None; it must return a torch module",
    "def make():\n    return 3, 4\n": r"returned \(3, 4\); it must",
    "class make:\n    def __new__(cls):\n        return dict\n": r"returned <class 'dict'>; it must",
}


@pytest.mark.parametrize("text", FAULTS)
def test_errors_of_the_user_s_code_are_the_user_s(tmp_path, text):
    file, _ = save_net(tmp_path, text=text)
    known = set(sys.modules)
    with pytest.raises(FactoryError, match=FAULTS[text]) as caught:
        run(f"{file}:make")
    assert "\n" not in str(caught.value)
    if "has no" not in FAULTS[text] and "return" not in text and "def" not in text:
        assert set(sys.modules) == known


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FactoryError, match=r"cannot read .*nowhere\.py: No such file"):
        run(f"{tmp_path}/nowhere.py:make")
    with pytest.raises(FactoryError, match="ModuleNotFoundError"):
        run("no_such_package_at_all:make")


@pytest.fixture
def like_timm(tmp_path, monkeypatch):
    """A package with a factory that takes a network's name, like timm's."""
    package = tmp_path / "site" / "like_timm"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from like_timm.models import create_model\n")
    (package / "models.py").write_text(
        "from torch import nn\n"
        "def create_model(model_name, pretrained=False, num_classes=1000, **more):\n"
        "    if model_name != 'linear':\n"
        "        raise RuntimeError(f'Unknown model ({model_name})')\n"
        "    return nn.Sequential(nn.Flatten(), nn.Linear(64, num_classes))\n"
    )
    monkeypatch.syspath_prepend(tmp_path / "site")
    yield "like_timm:create_model"
    for name in [name for name in sys.modules if name.startswith("like_timm")]:
        del sys.modules[name]


def test_a_factory_of_a_package(like_timm):
    assert run(like_timm, model_name="linear", num_classes=7)[1].out_features == 7
    with pytest.raises(FactoryError, match=r"models\.py, line 4: RuntimeError: Unknown model \(resnet\)"):
        run(like_timm, model_name="resnet")


def test_timm_itself():
    try:
        import timm  # noqa: F401
    except Exception as error:
        pytest.skip(f"timm cannot be imported here: {type(error).__name__}: {error}")
    assert run("timm:create_model", model_name="resnet18", num_classes=10).num_classes == 10
