"""Damaged cards, weights and states of trainings, in every reader."""

import json
import random

import pytest

import smoothcert as sc
from fuzz.file_damage import (
    Trials,
    absurd_weights,
    changed,
    damaged_documents,
    other_things,
    safetensors,
    safetensors_parts,
    written,
)
from small_networks import save_denoised, save_network
from smoothcert.ensembles import HoldoutUse
from smoothcert.errors import SmoothcertError
from smoothcert.folders import load_model, read_any_card

pytestmark = pytest.mark.slow


class EnoughError(SmoothcertError):
    """Ends a training that goes on although its state is damaged."""


def save_trained(folder, seed, **changes):
    """A model folder with random weights, and the whole configuration of a training in its card."""
    dataset = {"name": "digits", "digest": sc.load_dataset("digits", "train").digest}
    training = sc.TrainConfig(seed=seed).model_dump(mode="json")
    metrics = {"loss": 0.5, "epoch": 1}
    return save_network(folder, seed, dataset=dataset, training=training, metrics=metrics, **changes)


@pytest.fixture
def home(tmp_path):
    """Folders of two networks, one with heads, a denoiser, and ensembles of them."""
    members = [save_trained(tmp_path / "a", 1), save_trained(tmp_path / "b", 2)]
    save_trained(tmp_path / "heads", 3, heads=2)
    save_denoised(tmp_path / "a", tmp_path / "denoiser", architecture="dncnn-small")
    use = HoldoutUse(
        purpose="sween",
        dataset="d",
        split="holdout",
        digest="d",
        images=3,
        draws=2,
        seed=1,
        found={"loss": 0.5},
    )
    sc.save_ensemble(
        members,
        tmp_path / "ensemble",
        rule="softmax",
        weights=[1, 2],
        early_exit=sc.Adaptive(),
        fitted=[use],
    )
    sc.save_ensemble(members, tmp_path / "consensus", early_exit=sc.Consensus(1))
    sc.save_ensemble([tmp_path / "heads"], tmp_path / "of-heads")
    load_model(tmp_path / "denoiser")
    return tmp_path


def model_readers(folder):
    return (
        lambda: sc.load_classifier(folder),
        lambda: load_model(folder),
        lambda: read_any_card(folder),
    )


@pytest.mark.parametrize("folder", ["a", "heads", "denoiser", "ensemble", "consensus", "of-heads"])
def test_cards_with_a_wrong_field(home, folder):
    rng, trials = random.Random(folder), Trials()
    card = next(path for path in (home / folder).glob("*.json"))
    document = json.loads(card.read_text())
    for damage, wrong in damaged_documents(document, rng, few=("training", "class_names", "metrics")):
        card.write_text(written(wrong))
        trials.drive(damage, *model_readers(home / folder))
        if damage.startswith(("training", "dataset")) and folder == "a":
            trials.drive(damage, lambda: sc.train({"seed": 1}, home / "a", resume=True))
    trials.must_be_at_least(150)


@pytest.mark.parametrize("folder", ["a", "heads", "denoiser", "ensemble"])
def test_other_things_in_the_place_of_a_model_s_files(home, folder):
    rng, trials = random.Random(folder), Trials()
    for path in sorted((home / folder).iterdir()):
        for damage in other_things(path, rng):
            trials.drive(damage, *model_readers(home / folder))
        if path.suffix == ".safetensors":
            content = path.read_bytes()
            for damage, wrong in absurd_weights(content):
                path.write_bytes(wrong)
                trials.drive(damage, *model_readers(home / folder))
            path.write_bytes(content)
    trials.must_be_at_least(20)


def test_folders_that_name_themselves_and_each_other(home):
    trials = Trials()
    entry = {"path": "../ensemble", "digest": "0" * 64}
    for name, key in (
        ("denoiser", "model.json"),
        ("ensemble", "ensemble.json"),
        ("consensus", "ensemble.json"),
    ):
        path, target = home / name / key, home / name
        document = json.loads(path.read_text())
        for place in (
            ".",
            "../ensemble",
            "../consensus",
            "../denoiser",
            "/",
            "",
            "x/" * 3_000,
            "../a/../a",
            "~",
        ):
            if name == "denoiser":
                wrong = changed(document, ("denoised", "classifier"), place)
            else:
                wrong = changed(document, ("members", 0, "path"), place)
            path.write_text(json.dumps(wrong))
            trials.drive(f"{name} of {place[:20]}", *model_readers(target))
        if name != "denoiser":
            path.write_text(json.dumps({**document, "members": [entry] * 5_000}))
            trials.drive(f"{name} of itself, often", *model_readers(target))
    # Twice the one before it, thirty times over: a thousand million networks in thirty small files.
    card = json.loads((home / "ensemble" / "ensemble.json").read_text())
    for level in range(30):
        (home / f"level-{level}").mkdir()
        inner = "../a" if level == 0 else f"../level-{level - 1}"
        twice = {**card, "members": [{"path": inner, "digest": "0" * 64}] * 2}
        (home / f"level-{level}" / "ensemble.json").write_text(json.dumps(twice))
    trials.drive("doubling", *model_readers(home / "level-29"))
    (home / "level-0" / "ensemble.json").write_text(
        json.dumps({**card, "members": [{"path": "../level-29", "digest": "0" * 64}] * 2})
    )
    trials.drive("a circle of thirty", *model_readers(home / "level-29"))
    trials.must_be_at_least(20)


CONFIG = {"epochs": 3, "seed": 5, "batch_size": 256, "max_train_images": 40}


def stop(metrics):
    raise EnoughError("one epoch is enough")


def test_training_states(tmp_path):
    rng, trials, home = random.Random(7), Trials(), tmp_path / "m"
    with pytest.raises(EnoughError):
        sc.train(CONFIG, home, on_epoch=stop)
    path = home / "training.safetensors"
    content = path.read_bytes()
    readers = (
        lambda: sc.train(CONFIG, home, resume=True, on_epoch=stop),
        lambda: sc.train({**CONFIG, "seed": None}, home, resume=True, on_epoch=stop),
    )

    def put(wrong):
        path.unlink(missing_ok=True)
        path.write_bytes(wrong)

    for damage in other_things(path, rng, cuts=6, flips=20):
        trials.drive(damage, readers[0])
    header, data = safetensors_parts(content)
    for damage, wrong in absurd_weights(content):
        put(wrong)
        trials.drive(damage, *readers)
    state = json.loads(header["__metadata__"]["state"])
    for damage, wrong in damaged_documents(state, rng, few=("config", "tensors")):
        put(safetensors({**header, "__metadata__": {"state": written(wrong)}}, data))
        trials.drive(damage, *readers[: 2 if "seed" in damage else 1])
    trials.must_be_at_least(150)
