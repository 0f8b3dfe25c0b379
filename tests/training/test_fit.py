"""`fit`: the one loop on a user's own module and arrays, with the same bits, and a sentence for every fault."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.data import DATASETS
from smoothcert.errors import (
    CheckpointError,
    DataError,
    InvalidArgumentError,
    InvalidImageError,
    ModelOutputError,
    UnknownNameError,
)
from smoothcert.networks import weights_digest
from smoothcert.training import OBJECTIVES
from smoothcert.training.own.settings import OFFERED

NOISE = sc.Gaussian(0.25)
SHORT = {"epochs": 3, "batch_size": 64, "seed": 5}


class Net(nn.Module):
    def __init__(self, width=8, classes=3):
        super().__init__()
        self.first, self.norm = nn.Linear(16, width), nn.BatchNorm1d(width)
        self.drop, self.head = nn.Dropout(0.2), nn.Linear(width, classes)

    def forward(self, batch):
        return self.head(self.drop(self.norm(self.first(batch.flatten(1))).relu()))


def net(seed=1, kind=Net, **arguments):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return kind(**arguments)


def bars(count=120, dtype=np.uint8, split="train", seed=0):
    """Images whose class is the row that is bright, sorted by class as users' arrays often are."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, 3, count))
    images = rng.integers(0, 60, (count, 1, 4, 4), dtype=np.uint8)
    images[np.arange(count), 0, labels] = 255
    if dtype != np.uint8:
        images = (images / 255).astype(dtype)
    return sc.Dataset.from_arrays(images, labels, name="bars", split=split)


class StopError(Exception):
    """Stands for a crash in the middle of a training."""


def stop_after(epoch):
    def stop(metrics):
        if metrics.epoch == epoch:
            raise StopError

    return stop


def test_the_module_ends_trained_and_the_classifier_is_it():
    module, given = net(), net()
    said = []
    classifier = sc.fit(
        module, bars(), sc.Consistency(lbd=1.0), noise=NOISE, on_epoch=said.append, **{**SHORT, "epochs": 20}
    )
    assert classifier.model is module
    assert classifier.folder is None
    assert (classifier.noise, classifier.num_classes, classifier.input_shape) == (NOISE, 3, (1, 4, 4))
    assert not any(part.training for part in module.modules())
    assert weights_digest(module) != weights_digest(given)
    assert [one.epoch for one in said] == list(range(1, 21))
    assert said[-1].parts.keys() == {"cross_entropy", "consistency", "entropy"}
    test = bars(60, split="test", seed=1)
    right = (module(test.batch(range(60))).argmax(dim=1).numpy() == test.labels).mean()
    assert right > 0.9


def test_the_bits_are_those_of_train_for_the_same_network(tmp_path):
    source = DATASETS["digits"]
    settings = {"epochs": 2, "batch_size": 128, "seed": 3, "lr": 0.05}
    hyper = {"lbd": 5.0, "eta": 0.1}
    card = sc.train(
        {**settings, "sigma": 0.5, "method": "consistency", "settings": hyper}, tmp_path / "by-name"
    )
    train_set, holdout = sc.load_dataset("digits", "train"), sc.load_dataset("digits", "holdout")
    options = {"num_classes": 10, "input_shape": (1, 8, 8), "mean": source.mean, "std": source.std}
    classifier = sc.fit(
        lambda: sc.create_model("convnet", **options),
        train_set,
        sc.Consistency(**hyper),
        noise=sc.Gaussian(0.5),
        holdout=holdout,
        out=tmp_path / "own",
        **settings,
    )
    assert weights_digest(classifier.model) == card.digest
    own = sc.load_model(tmp_path / "own", module=sc.create_model("convnet", **options))[1]
    seconds = ("seconds", "peak_memory_mb")
    assert {k: v for k, v in own.metrics.items() if k not in seconds} == {
        k: v for k, v in card.metrics.items() if k not in seconds
    }
    assert own.training["settings"] == card.training["settings"] == hyper
    weights = [(tmp_path / name / "best" / "model.safetensors").read_bytes() for name in ("by-name", "own")]
    assert weights[0] == weights[1]


@pytest.mark.parametrize("method", [name for name in OBJECTIVES if OBJECTIVES[name].trains == "network"])
def test_every_method_for_plain_networks_trains_a_module(method):
    if OBJECTIVES[method].least_heads > 1:
        with pytest.raises(InvalidArgumentError, match=r"use smoothcert.train with heads=5"):
            sc.fit(net(), bars(), method, noise=NOISE)
        return
    module = net()
    sc.fit(module, bars(30), method, noise=NOISE, epochs=1, seed=0)
    assert weights_digest(module) != weights_digest(net())


def test_same_seed_same_bits_whatever_torch_was_doing():
    made = []
    for state in (1, 2):
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(state)
            module, before = net(), torch.random.get_rng_state()
            sc.fit(module, bars(), noise=NOISE, **SHORT)
            made.append(weights_digest(module))
            assert torch.equal(torch.random.get_rng_state(), before)
    assert made[0] == made[1]
    other = net()
    sc.fit(other, bars(), noise=NOISE, **{**SHORT, "seed": 6})
    assert weights_digest(other) != made[0]


def test_float_images_train_like_the_bytes_they_are():
    digests = []
    for dtype in (np.uint8, np.float32, np.float64):
        module = net()
        sc.fit(module, bars(dtype=dtype), noise=NOISE, **SHORT)
        digests.append(weights_digest(module))
    assert digests[0] == digests[1] == digests[2]


@pytest.mark.parametrize("optimizer", ["sgd", "adam"])
@pytest.mark.parametrize("start", ["module", "class"])
def test_a_stopped_training_continues_and_ends_with_the_same_bits(tmp_path, optimizer, start):
    settings = {**SHORT, "epochs": 4, "optimizer": optimizer, "lr": 0.01, "holdout": 20}

    def run(out, **more):
        return sc.fit(
            net() if start == "module" else Net, bars(), noise=NOISE, out=tmp_path / out, **settings, **more
        )

    whole = run("whole")
    with pytest.raises(StopError):
        run("parts", on_epoch=stop_after(2))
    assert (tmp_path / "parts" / "training.safetensors").exists()
    with pytest.raises(
        CheckpointError, match="already holds an unfinished training; go on from it with resume=True"
    ):
        run("parts")
    seen = []
    parts = run("parts", resume=True, on_epoch=seen.append)
    assert [one.epoch for one in seen] == [3, 4]
    assert weights_digest(parts.model) == weights_digest(whole.model)
    for name in ("", "best"):
        files = [(tmp_path / out / name / "model.safetensors").read_bytes() for out in ("whole", "parts")]
        assert files[0] == files[1]
    names = ["best", "metrics.jsonl", "model.json", "model.safetensors"]
    assert sorted(path.name for path in (tmp_path / "parts").iterdir()) == names
    again = run("parts", resume=True, on_epoch=lambda metrics: pytest.fail("it was done"))
    assert weights_digest(again.model) == weights_digest(whole.model)


def test_a_failed_training_leaves_the_module_as_it_was(tmp_path):
    module = net()
    module.drop.eval()
    before = copy.deepcopy(module.state_dict())
    with pytest.raises(StopError):
        sc.fit(module, bars(), noise=NOISE, out=tmp_path / "m", on_epoch=stop_after(1), **SHORT)
    assert all(torch.equal(value, before[name]) for name, value in module.state_dict().items())
    assert module.training
    assert not module.drop.training
    # so the same call goes on, as in a notebook
    sc.fit(module, bars(), noise=NOISE, out=tmp_path / "m", resume=True, **SHORT)
    done = weights_digest(module)
    sc.fit(module, bars(), noise=NOISE, out=tmp_path / "m", resume=True, **SHORT)
    assert weights_digest(module) == done


class Other(Net):
    def forward(self, batch):
        return super().forward(batch) * 2


def frozen():
    module = net()
    module.first.requires_grad_(False)
    return module


def brighten(images, generator):
    return images * 0.5


def darken(images, generator):
    return images * 0.25


CHANGES = {
    "module_weights": {"module": net(2)},
    "model, module, module_code": {"module": net(kind=Other)},
    "module_code": {"module": frozen()},
    "dataset digest": {"dataset": bars(seed=3)},
    "settings": {"objective": sc.Macer(lbd=1.0)},
    "method, settings": {"objective": sc.Consistency(lbd=2.0)},
    "noise_law, sigma": {"noise": sc.Gaussian(0.5)},
    "noise, noise_law": {"noise": sc.Laplace.from_sigma(0.25)},
    "lr": {"lr": 0.01},
    "seed": {"seed": 6},
    "augmentation": {"augment": darken},
    "mean, normalize, std": {"mean": [0.5], "std": [0.5]},
    "holdout, holdout_digest": {"holdout": bars(30, seed=4)},
}


@pytest.mark.parametrize("finished", [False, True])
def test_another_training_is_not_resumed_and_says_what_differs(tmp_path, finished):
    first = {
        "module": net(),
        "dataset": bars(),
        "objective": sc.Macer(m=4),
        "noise": NOISE,
        "augment": brighten,
    }
    first = {**first, **SHORT, "epochs": 2, "out": tmp_path / "m"}
    stop = None if finished else stop_after(1)
    try:
        sc.fit(**{**first, "module": net()}, on_epoch=stop)
    except StopError:
        assert not finished
    assert (tmp_path / "m" / "model.json").exists() == finished
    for names, change in CHANGES.items():
        with pytest.raises(CheckpointError, match="another ") as caught:
            sc.fit(**{**first, **change}, resume=True)
        differing = str(caught.value).split("another ")[1].split(";")[0].split(", ")
        assert sorted(differing) == names.split(", "), names
    sc.fit(**first, resume=True)


def test_mean_and_std_are_inside_the_certified_model(tmp_path):
    module = net()
    classifier = sc.fit(module, bars(), noise=NOISE, mean=[0.25], std=[0.5], out=tmp_path / "m", **SHORT)
    batch = bars().batch(range(16))
    assert torch.equal(classifier.model(batch), module((batch - 0.25) / 0.5))
    card = sc.load_model(tmp_path / "m", module=Net())[1]
    assert (card.mean, card.std) == ((0.25,), (0.5,))
    loaded = sc.load_classifier(tmp_path / "m", module=Net())
    assert torch.equal(loaded.model(batch), classifier.model(batch))
    again = net()
    sc.fit(
        again,
        bars(),
        noise=NOISE,
        mean=(0.25,),
        std=np.array([0.5]),
        out=tmp_path / "m",
        resume=True,
        **SHORT,
    )
    assert weights_digest(again) == weights_digest(module)


def test_frozen_weights_and_settings_of_the_module_are_kept():
    module = frozen()
    first = module.first.weight.clone()
    sc.fit(module, bars(), noise=NOISE, **SHORT)
    assert torch.equal(module.first.weight, first)
    assert not module.first.weight.requires_grad
    assert module.head.weight.requires_grad


def test_the_hold_out_is_fixed_mixed_and_not_trained_on(tmp_path):
    seen = []

    def look(images, generator):
        seen.append(images.clone())
        return images

    said = []
    sc.fit(
        net(),
        bars(),
        noise=NOISE,
        holdout=30,
        augment=look,
        on_epoch=said.append,
        seed=1,
        epochs=1,
        batch_size=90,
    )
    assert all(one.holdout_noisy_accuracy is not None for one in said)
    trained = {image.numpy().tobytes() for batch in seen for image in batch}
    everything = bars().batch(range(120))
    held = [row for row in range(120) if everything[row].numpy().tobytes() not in trained]
    assert len(held) == 30
    assert len(set(bars().labels[held].tolist())) == 3  # of every class, though the arrays are sorted
    sc.fit(net(), bars(), noise=NOISE, holdout=bars(10, seed=9), epochs=1, on_epoch=said.append)
    assert said[-1].holdout_noisy_accuracy is not None
    sc.fit(net(), bars(), noise=NOISE, epochs=1, on_epoch=said.append)
    assert said[-1].holdout_noisy_accuracy is None


def test_laws_that_are_chosen_by_other_numbers():
    for noise in (sc.Uniform(0.3), sc.Laplace(0.2), sc.DiscreteReplacement(0.8), sc.GridGaussian(0.25)):
        assert sc.fit(net(), bars(30), noise=noise, epochs=1, seed=0).noise is noise


def test_the_settings_are_those_of_a_training_and_no_others():
    assert set(OFFERED) <= set(sc.TrainConfig.model_fields)
    assert {"epochs", "lr", "seed", "schedule", "milestones", "precision"} <= set(OFFERED)
    with pytest.raises(
        InvalidArgumentError, match="fit knows no argument 'sigma'; settings: epochs, optimizer, lr"
    ):
        sc.fit(net(), bars(), noise=NOISE, sigma=0.5)
    with pytest.raises(InvalidArgumentError, match="training setting 'epochs' is wrong"):
        sc.fit(net(), bars(), noise=NOISE, epochs=0)


def test_a_configuration_of_fit_is_not_trained_by_name(tmp_path):
    sc.fit(Net, bars(), noise=NOISE, out=tmp_path / "m", **SHORT)
    card = sc.load_model(tmp_path / "m", module=Net())[1]
    with pytest.raises(InvalidArgumentError, match=r"handed in .*Net.; train it by smoothcert.fit"):
        sc.train(card.training, tmp_path / "n")


class Answering(Net):
    """A module whose answers are changed by a function."""

    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, batch):
        return self.change(super().forward(batch))


def failing(logits):
    raise RuntimeError("my own fault")


@pytest.mark.parametrize(
    "change, kind, message",
    [
        (lambda logits: (logits, 1), ModelOutputError, "Answering returned a tuple for a batch"),
        (lambda logits: {"logits": logits}, ModelOutputError, "returned a dict"),
        (
            lambda logits: logits[:, :2],
            ModelOutputError,
            r"returned \(16, 2\) of float32 for 16 images of 3 classes",
        ),
        (lambda logits: logits.mean(), ModelOutputError, r"returned \(\) of float32"),
        (lambda logits: logits.argmax(1), ModelOutputError, r"returned \(16,\) of int64"),
        (lambda logits: logits / 0, ModelOutputError, "returned NaN or infinite logits before any training"),
        (
            lambda logits: logits.softmax(1),
            ModelOutputError,
            "returned probabilities, .* leave out its softmax",
        ),
        (failing, InvalidArgumentError, r"images of shape \(16, 1, 4, 4\): RuntimeError: .*my own fault"),
    ],
)
def test_answers_that_are_no_logits_are_refused_by_what_they_are(change, kind, message):
    with pytest.raises(kind, match=message):
        sc.fit(Answering(change), bars(), noise=NOISE)


def all_frozen():
    return net().requires_grad_(False)


class NoWeights(nn.Module):
    def forward(self, batch):
        return batch.flatten(1)[:, :3]


@pytest.mark.parametrize(
    "module, message",
    [
        (3, "module must be a torch module, or a function"),
        (lambda: 3, "got one that makes 3"),
        (lambda: Net(no_such=1), "cannot be made by calling .* without arguments: TypeError: .*no_such"),
        (NoWeights(), "NoWeights has no weights that learn"),
        (all_frozen(), "Net has no weights that learn"),
        (sc.VotingEnsemble([net().eval(), net(2).eval()]), "VotingEnsemble, which is made of classifiers"),
    ],
)
def test_modules_that_cannot_be_trained(module, message):
    with pytest.raises(InvalidArgumentError, match=message):
        sc.fit(module, bars(), noise=NOISE)


@pytest.mark.parametrize(
    "change, kind, message",
    [
        ({"dataset": "digits"}, InvalidArgumentError, "dataset must be a smoothcert Dataset"),
        (
            {"dataset": bars(split="test")},
            InvalidArgumentError,
            "test split of bars, which is for certifying",
        ),
        ({"class_names": ["a"]}, DataError, "labels must lie in 0..0"),
        ({"class_names": list("abcd")}, ModelOutputError, "16 images of 4 classes"),
        ({"holdout": 0}, InvalidArgumentError, "holdout must be a number of images from 1 on"),
        ({"holdout": 120}, DataError, "leaves nothing of 120 training images"),
        ({"holdout": "none"}, InvalidArgumentError, "holdout must be a number of images, a Dataset"),
        ({"holdout": sc.load_dataset("digits")}, InvalidArgumentError, "holdout has input_shape"),
        ({"augment": True}, InvalidArgumentError, "augment must be False, one of crop-flip, none"),
        ({"augment": "flop"}, UnknownNameError, "unknown augmentation 'flop'"),
        (
            {"augment": lambda images, generator: images[:, :, 1:]},
            ModelOutputError,
            "augment must return a tensor",
        ),
        ({"mean": [0.5]}, InvalidArgumentError, "mean and std belong together"),
        ({"mean": [0.5], "std": [0.0]}, InvalidArgumentError, "std must be positive"),
        ({"mean": [0.5, 0.5], "std": [1.0]}, InvalidArgumentError, "mean must be 1 or 1 finite numbers"),
        ({"mean": ["a"], "std": [1.0]}, InvalidArgumentError, "mean must be a list of finite numbers"),
        ({"noise": 0.25}, InvalidArgumentError, "noise must be a noise law such as"),
        ({"objective": "consitency"}, UnknownNameError, "unknown method 'consitency'; known: "),
        ({"objective": sc.Consistency}, InvalidArgumentError, "must be a training method .*; call it"),
        (
            {"objective": "drt"},
            InvalidArgumentError,
            "members of an ensemble together; use smoothcert.fine_tune",
        ),
        ({"objective": "denoiser-mse"}, InvalidArgumentError, "use smoothcert.train with classifier=FOLDER"),
        (
            {"objective": "smoothadv", "noise": sc.DiscreteReplacement(0.8)},
            InvalidArgumentError,
            "moves images",
        ),
        ({"resume": True}, InvalidArgumentError, "resume=True continues the training in a folder; say which"),
        ({"accelerator": "tpu"}, InvalidArgumentError, "accelerator must be"),
        (
            {"batch_size": 1, "objective": sc.SmoothAdv(m=16)},
            InvalidArgumentError,
            "batch_size=1 is less than an image of 16",
        ),
    ],
)
def test_wrong_arguments_have_their_sentence(change, kind, message):
    arguments = {"module": net(), "dataset": bars(), "noise": NOISE, **SHORT}
    with pytest.raises(kind, match=message):
        sc.fit(**{**arguments, **change})


@pytest.mark.parametrize("value", [np.nan, np.inf, 1.5, -0.1, 255.0])
def test_pixels_outside_the_unit_interval_are_named(value):
    images = bars(dtype=np.float32).images.copy()
    images[7, 0, 1, 2] = value
    dataset = sc.Dataset.from_arrays(images, bars().labels, split="train", allow_any_range=True)
    with pytest.raises(
        InvalidImageError, match=r"image 7 of dataset has the value .*pixels must lie in \[0, 1\]"
    ):
        sc.fit(net(), dataset, noise=NOISE)


def test_a_module_without_shapes_yet_is_told_what_to_do():
    with pytest.raises(
        CheckpointError, match="has no shape yet; ask the model about one batch of images first"
    ):
        sc.fit(nn.Sequential(nn.Flatten(), nn.LazyLinear(3)), bars(), noise=NOISE)


def test_an_objective_of_no_package_is_refused():
    class Mine(type(sc.Consistency())):
        pass

    with pytest.raises(InvalidArgumentError, match="objective Mine is in no registry"):
        sc.fit(net(), bars(), Mine(), noise=NOISE)
    with pytest.raises(TypeError):
        sc.Consistency(2)  # settings have names


def test_folders_of_own_modules_are_no_members_or_classifiers_of_other_trainings(tmp_path):
    for seed, name in enumerate("ab"):
        sc.fit(Net, bars(), noise=NOISE, out=tmp_path / name, epochs=1, seed=seed)
    with pytest.raises(InvalidArgumentError, match="members to fine-tune must be networks of this package"):
        sc.fine_tune({"method": "drt"}, [tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    with pytest.raises(InvalidArgumentError, match="denoisers are for classifiers of this package"):
        sc.train({"method": "denoiser-mse", "classifier": str(tmp_path / "a")}, tmp_path / "d")


def test_images_that_a_fitted_member_may_have_learnt_choose_no_weights():
    from smoothcert.ensembles import common_holdout, refuse_other_holdout
    from smoothcert.errors import InvalidArgumentError as Refused

    class Card:
        def __init__(self, digest):
            self.training = {"holdout": 5, "own": {"holdout_digest": digest}}

    images = sc.Dataset.from_arrays(
        np.full((5, 1, 4, 4), 200, dtype=np.uint8), [0, 1, 0, 1, 0], split="holdout"
    )
    with pytest.raises(
        Refused, match=r"may have learnt some of these images; give the Dataset that fit was given"
    ):
        refuse_other_holdout([Card(None)], images)
    with pytest.raises(Refused, match="may have learnt"):
        refuse_other_holdout([Card(images.digest), Card("other")], images)
    refuse_other_holdout([Card(images.digest)], images)
    assert common_holdout([Card(None)]) is None
