"""Model folders of files and factories: what they keep, what they refuse, and that none runs code by itself."""

import json

import pytest
import torch
from tests.own_models import save_net, save_onnx
from tests.small_networks import save_network

import smoothcert as sc
from smoothcert.errors import CheckpointError, FactoryError, InvalidArgumentError, SmoothcertError
from smoothcert.folders import modules_of, read_any_card, read_card, trained_on
from smoothcert.folders.own.factory import build
from smoothcert.folders.own.factory_name import FactoryName

NOISE = sc.Gaussian(0.25)


@pytest.fixture
def net(tmp_path):
    """Name of a factory, and the mark that it leaves; weights of width 5 beside it."""
    file, marker = save_net(tmp_path)
    name = f"{file}:make"
    torch.manual_seed(2)
    torch.save(build(FactoryName.read(name), {"width": 5}).state_dict(), tmp_path / "net.pt")
    marker.unlink()
    return name, marker


def imported(net, out, **more):
    how = {
        "arguments": {"width": 5},
        "weights": out.parent / "net.pt",
        "noise": NOISE,
        "input_shape": (1, 8, 8),
    }
    return sc.import_model(net, out, **{**how, **more})


def test_an_onnx_file_in_a_folder(tmp_path):
    path = save_onnx(tmp_path / "net.onnx", mean=0.25, std=0.5)
    card = sc.import_model(
        path, tmp_path / "a", noise=NOISE, mean=[0.25], std=[0.5], class_names=list("abcdefghij")
    )
    assert sorted(file.name for file in (tmp_path / "a").iterdir()) == ["model.json", "model.onnx"]
    assert read_card(tmp_path / "a") == card
    assert (card.architecture, card.num_classes, card.input_shape) == ("onnx", 10, (1, 8, 8))
    direct = sc.load_classifier(path, noise=NOISE, mean=[0.25], std=[0.5])
    stored = sc.load_classifier(tmp_path / "a")
    batch = torch.rand(20, 1, 8, 8)
    assert torch.equal(direct.model(batch), stored.model(batch))
    assert stored.class_names == tuple("abcdefghij")
    assert trained_on(tmp_path / "a") == ()
    assert stored.trained_for.mismatch(sc.load_dataset("digits"), NOISE) is None


def change_card(folder, **fields):
    content = json.loads((folder / "model.json").read_text())
    content.update(fields)
    (folder / "model.json").write_text(json.dumps(content))


@pytest.mark.parametrize(
    "fields, message",
    [
        ({"mean": [0.1], "std": [1.0]}, "network .* has digest"),
        ({"onnx": "0" * 64}, "file .* has digest"),
        ({"num_classes": 9}, "class_names for 9"),
        ({"num_classes": 9, "class_names": list("123456789")}, "num_classes is 9"),
        ({"input_shape": [1, 9, 9]}, "input_shape is"),
        ({"heads": 2}, "no code, heads, split or denoiser"),
        ({"mean": [0.1, 0.2, 0.3], "std": [1.0]}, "mean must be"),
    ],
)
def test_a_card_that_says_something_else_is_refused(tmp_path, fields, message):
    sc.import_model(save_onnx(tmp_path / "net.onnx"), tmp_path / "a", noise=NOISE)
    change_card(tmp_path / "a", **fields)
    with pytest.raises(CheckpointError, match=message):
        sc.load_model(tmp_path / "a")


def test_another_file_in_the_folder_is_refused(tmp_path):
    sc.import_model(save_onnx(tmp_path / "net.onnx"), tmp_path / "a", noise=NOISE)
    save_onnx(tmp_path / "a" / "model.onnx", mean=0.1)
    with pytest.raises(CheckpointError, match="has digest"):
        sc.load_model(tmp_path / "a")
    (tmp_path / "a" / "model.onnx").unlink()
    with pytest.raises(CheckpointError, match=r"cannot read .*model\.onnx"):
        sc.load_model(tmp_path / "a")


def test_a_folder_never_runs_the_factory_that_it_names(tmp_path, net):
    name, marker = net
    card = imported(name, tmp_path / "a")
    assert (card.code.factory, card.code.arguments, card.architecture) == (name, {"width": 5}, "Net")
    other, _ = save_net(tmp_path, "other.py")
    mixed = [tmp_path / "a", tmp_path / "a"]
    sc.make_ensemble(mixed, tmp_path / "e", module=modules_of(None, [name]))
    sc.make_ensemble([tmp_path / "e"], tmp_path / "ee", module=modules_of(None, [name]))
    marker.unlink()
    for folder in (tmp_path / "a", tmp_path / "e", tmp_path / "ee"):
        for load in (
            sc.load_model,
            sc.load_classifier,
            lambda one: sc.load_classifier(one, factories=[f"{other}:make"]),
            lambda one: sc.make_ensemble([one], tmp_path / "f"),
            lambda one: sc.save_ensemble([one, one], tmp_path / "f"),
            lambda one: sc.import_model(one, tmp_path / "f"),
        ):
            with pytest.raises(SmoothcertError) as caught:
                load(folder)
            assert "\n" not in str(caught.value)
        read_any_card(folder)
        trained_on(folder)
    assert not marker.exists()
    assert not (tmp_path / "f").exists()
    with pytest.raises(CheckpointError, match=r"no folder runs by itself.*--factory"):
        sc.load_model(tmp_path / "a")


@pytest.mark.parametrize("depth", ["a", "e"])
def test_the_user_lets_it_run_by_naming_it_again(tmp_path, net, depth):
    name, marker = net
    imported(name, tmp_path / "a")
    sc.make_ensemble([tmp_path / "a", tmp_path / "a"], tmp_path / "e", module=modules_of(None, [name]))
    marker.unlink()
    model, _ = sc.load_model(tmp_path / depth, factories=[name])
    assert marker.exists()
    direct = sc.load_classifier(
        name, arguments={"width": 5}, weights=tmp_path / "net.pt", noise=NOISE, input_shape=(1, 8, 8)
    )
    batch = torch.rand(20, 1, 8, 8)
    torch.testing.assert_close(model(batch), direct.model(batch))
    with pytest.raises(InvalidArgumentError, match="both given"):
        sc.load_model(tmp_path / depth, module=model, factories=[name])


def test_factories_that_nobody_asks_for_are_refused(tmp_path, net):
    name, marker = net
    folder = save_network(tmp_path / "plain", 0)
    with pytest.raises(InvalidArgumentError, match="names none; leave them out"):
        sc.load_classifier(folder, factories=[name])
    with pytest.raises(InvalidArgumentError, match="are for model folders"):
        sc.load_classifier(save_onnx(tmp_path / "net.onnx"), noise=NOISE, factories=[name])
    assert not marker.exists()


def test_a_factory_that_builds_another_network_is_refused(tmp_path, net):
    name, _ = net
    imported(name, tmp_path / "a")
    file = tmp_path / "net.py"
    file.write_text(file.read_text().replace("return Net(width, classes)", "return Net(width + 1, classes)"))
    with pytest.raises(CheckpointError, match=r"hidden\.weight"):
        sc.load_model(tmp_path / "a", factories=[name])
    file.write_text("def make(width):\n    return lambda batch: batch\n")
    with pytest.raises(FactoryError, match="need a module"):
        sc.load_model(tmp_path / "a", factories=[name])


def test_weights_of_a_model_folder_bring_its_facts(tmp_path):
    """A network of this package built by a user's own function, with a trained folder's weights."""
    folder = save_network(tmp_path / "trained", 3, mean=(0.4,), std=(0.2,))
    file = tmp_path / "conv.py"
    file.write_text(
        "from smoothcert import create_model\n"
        "def make():\n"
        "    return create_model('convnet', num_classes=10, input_shape=(1, 8, 8)).network\n"
    )
    own = sc.load_classifier(f"{file}:make", weights=folder)
    trained = sc.load_classifier(folder)
    batch = torch.rand(20, 1, 8, 8)
    assert torch.equal(own.model(batch), trained.model(batch))
    assert (own.noise, own.num_classes, own.input_shape) == (NOISE, 10, (1, 8, 8))
    assert own.trained_for.datasets == ("digits",)
    with pytest.raises(InvalidArgumentError, match=r"mean is \(0.5,\), but the card"):
        sc.load_classifier(f"{file}:make", weights=folder, mean=(0.5,), std=(0.2,))
    other = save_network(tmp_path / "lenet", 3, architecture="alexnet", input_shape=(3, 32, 32))
    with pytest.raises(CheckpointError, match="do not fit"):
        sc.load_classifier(f"{file}:make", weights=other)


def test_what_is_missing_or_too_much_is_told(tmp_path, net):
    name, _ = net
    path, folder = save_onnx(tmp_path / "net.onnx"), save_network(tmp_path / "plain", 0)
    for how, message in (
        ({"folder": path}, "noise is needed"),
        ({"folder": name, "noise": NOISE}, "input_shape is needed"),
        ({"folder": path, "noise": NOISE, "mean": [0.5]}, "mean is given without std"),
        ({"folder": path, "noise": NOISE, "weights": "w.pt"}, "weights is for factories"),
        ({"folder": path, "noise": NOISE, "class_names": ["a"]}, "1 names for 10"),
        ({"folder": folder, "num_classes": 10}, "has a card that says it"),
        ({"folder": tmp_path / "net.pt", "noise": NOISE}, "is a file, but no ONNX file"),
        ({"folder": name, "noise": NOISE, "arguments": {"width": [1]}}, "plain values"),
        (
            {"folder": name, "noise": NOISE, "input_shape": (1, 8, 8), "num_classes": 3},
            "num_classes is 3, but",
        ),
    ):
        with pytest.raises(
            InvalidArgumentError if "file, but" not in message else CheckpointError, match=message
        ):
            sc.load_classifier(**how)
    with pytest.raises(FactoryError, match=r"raised RuntimeError on 16 images of shape \(3, 8, 8\)"):
        sc.load_classifier(name, noise=NOISE, input_shape=(3, 8, 8))
    with pytest.raises(InvalidArgumentError, match="noise is needed"):
        sc.import_model(path, tmp_path / "f")
    assert not (tmp_path / "f").exists()
