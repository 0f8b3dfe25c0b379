"""Members fine-tuned together: folders that load and vote, repeatable, resumable, and refusals before any work."""

import json
import shutil

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import load_checkpoint, load_model
from smoothcert.folders.checkpoint import read_card

SHORT = {"dataset": "digits", "epochs": 1, "max_train_images": 96, "seed": 1}
DRT = {**SHORT, "method": "drt", "epochs": 2, "lr": 0.01}


@pytest.fixture(scope="module")
def members(tmp_path_factory):
    """Two members of different architectures and an ensemble of them; a third with other noise."""
    home = tmp_path_factory.mktemp("members")
    sc.train({**SHORT, "model": "convnet"}, home / "a")
    sc.train({**SHORT, "model": "resnet8"}, home / "b")
    sc.train({**SHORT, "sigma": 0.5}, home / "louder")
    sc.save_ensemble([home / "a", home / "b"], home / "ensemble")
    return home


def weights_of(folder):
    return load_checkpoint(folder)[0].state_dict()


def test_members_of_different_architectures_become_an_ensemble(members, tmp_path):
    before = [read_card(members / name).digest for name in "ab"]
    seen = []
    card = sc.fine_tune(DRT, members / "ensemble", tmp_path / "out", on_epoch=seen.append)
    assert [one.epoch for one in seen] == [1, 2]
    assert set(seen[0].parts) == {"cross_entropy", "gradient_diversity", "confidence_margin"}
    assert [read_card(members / name).digest for name in "ab"] == before, "the given members stay as they are"
    for home in (tmp_path / "out", tmp_path / "out" / "best"):
        cards = [read_card(home / f"member-{number}") for number in range(2)]
        assert [one.architecture for one in cards] == ["convnet", "resnet8"]
        assert all(one.method == "drt" and one.training["digests"] == before for one in cards)
        assert not set(before) & {one.digest for one in cards}, "all members were trained"
        _, found = load_model(home / "ensemble")
        assert [entry.digest for entry in found.members] == [one.digest for one in cards]
    assert load_model(tmp_path / "out" / "ensemble")[1] == card
    assert not (tmp_path / "out" / "training.safetensors").exists()
    classifier = sc.load_classifier(tmp_path / "out" / "ensemble")
    image = sc.load_dataset("digits", "test").batch([0])[0]
    assert classifier.certify(image, procedure=sc.FixedSample(n=200), seed=1, engine="torch").samples == 300


class StoppedError(Exception):
    pass


def test_stopped_and_continued_it_ends_with_the_same_bits(members, tmp_path):
    folders = [members / "a", members / "b"]
    sc.fine_tune(DRT, folders, tmp_path / "whole")

    def stop(metrics):
        raise StoppedError

    with pytest.raises(StoppedError):
        sc.fine_tune(DRT, folders, tmp_path / "parts", on_epoch=stop)
    seen = []
    sc.fine_tune(DRT, members / "ensemble", tmp_path / "parts", on_epoch=seen.append, resume=True)
    assert [one.epoch for one in seen] == [2]
    for place in ("member-0", "member-1", "best/member-0", "best/member-1"):
        whole, parts = (weights_of(tmp_path / name / place) for name in ("whole", "parts"))
        assert all(torch.equal(value, parts[name]) for name, value in whole.items())
    with pytest.raises(
        CheckpointError, match="already holds a trained model; go on from it with resume=True"
    ):
        sc.fine_tune(DRT, folders, tmp_path / "whole")
    again = []
    sc.fine_tune(DRT, folders, tmp_path / "whole", on_epoch=again.append, resume=True)
    assert again == []
    with pytest.raises(CheckpointError, match="another lr; choose another folder"):
        sc.fine_tune({**DRT, "lr": 0.02}, folders, tmp_path / "whole", resume=True)


def test_a_changed_member_is_another_training(members, tmp_path):
    folders = [members / "a", members / "b"]

    def stop(metrics):
        raise StoppedError

    with pytest.raises(StoppedError):
        sc.fine_tune(DRT, folders, tmp_path / "out", on_epoch=stop)
    with pytest.raises(CheckpointError, match="another digests, model"):
        sc.fine_tune(DRT, folders[::-1], tmp_path / "out", resume=True)


def test_an_ensemble_whose_member_was_swapped_is_refused(members, tmp_path):
    for name in ("a", "b", "ensemble"):
        shutil.copytree(members / name, tmp_path / name)
    shutil.rmtree(tmp_path / "b")
    shutil.copytree(members / "louder", tmp_path / "b")
    with pytest.raises(CheckpointError, match="has changed since it was made"):
        sc.fine_tune(DRT, tmp_path / "ensemble", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_with_foreign_members_is_left_alone(members, tmp_path):
    sc.train(SHORT, tmp_path / "out" / "member-0")
    digest = read_card(tmp_path / "out" / "member-0").digest
    with pytest.raises(CheckpointError, match="member-0 holds a model of another training"):
        sc.fine_tune(DRT, members / "ensemble", tmp_path / "out")
    assert read_card(tmp_path / "out" / "member-0").digest == digest


def test_members_that_cannot_go_together_are_refused(members, tmp_path):
    other = tmp_path / "other"
    card = json.loads((members / "a" / "model.json").read_text())
    other.mkdir()
    for change, message in [
        ({"input_shape": [1, 28, 28]}, "members must agree on input_shape"),
        ({"num_classes": 12}, "members must agree on num_classes"),
    ]:
        (other / "model.json").write_text(json.dumps({**card, **change}))
        with pytest.raises(InvalidArgumentError, match=message):
            sc.fine_tune(DRT, [members / "a", other], tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="members must agree on noise"):
        sc.fine_tune(DRT, [members / "a", members / "louder"], tmp_path / "out")
    with pytest.raises(
        InvalidArgumentError, match=r"the members have noise .*0\.25.*this training has .*0\.5"
    ):
        sc.fine_tune({**DRT, "sigma": 0.5}, members / "ensemble", tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="at least 2 model folders"):
        sc.fine_tune(DRT, [members / "a"], tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="is an ensemble; members to fine-tune must be networks"):
        sc.fine_tune(DRT, [members / "a", members / "ensemble"], tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="method 'gaussian' trains one network"):
        sc.fine_tune(SHORT, members / "ensemble", tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match=r"use smoothcert.fine_tune \(--from"):
        sc.train(DRT, tmp_path / "out")
    assert not (tmp_path / "out").exists()
