"""Denoisers from training to certificate: the classifier stays as it is, folders refer to it, bad ones are refused."""

import json
import shutil

import pytest
import torch

import smoothcert as sc
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import denoise, load_checkpoint, load_model
from smoothcert.folders.checkpoint import read_card
from smoothcert.networks import Denoised, weights_digest

SHORT = {"dataset": "digits", "epochs": 1, "max_train_images": 96, "seed": 1}
SMALL = {
    **SHORT,
    "model": "dncnn-small",
    "epochs": 2,
    "depth": 3,
    "width": 4,
    "optimizer": "adam",
    "lr": 3e-3,
}


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A classifier without noise, another one, and a denoiser trained for the first."""
    home = tmp_path_factory.mktemp("denoisers")
    sc.train({**SHORT, "method": "standard"}, home / "clean")
    sc.train({**SHORT, "method": "standard", "seed": 2}, home / "other")
    config = {**SMALL, "method": "denoiser-stability", "classifier": str(home / "clean")}
    sc.train(config, home / "denoised")
    return home


@pytest.mark.parametrize("method", ["denoiser-mse", "denoiser-ce", "denoiser-stability"])
def test_the_classifier_is_bit_for_bit_the_same_after_training(home, tmp_path, method):
    before = load_checkpoint(home / "clean")[0]
    seen = []
    config = {**SMALL, "method": method, "classifier": str(home / "clean")}
    card = sc.train(config, tmp_path / "out", on_epoch=seen.append)
    assert seen[1].loss < seen[0].loss
    model, found = load_checkpoint(tmp_path / "out")
    assert isinstance(model, Denoised)
    after = model.classifier.state_dict()
    assert any("running_mean" in name for name in after), "the classifier has batch norm to disturb"
    assert all(torch.equal(value, after[name]) for name, value in before.state_dict().items())
    assert (found.architecture, found.method) == ("dncnn-small", method)
    assert (found.denoised.depth, found.denoised.width) == (3, 4)
    assert found.denoised.digest == weights_digest(model.denoiser)
    assert found.denoised.classifier_digest == weights_digest(before) == read_card(home / "clean").digest
    assert card.digest == weights_digest(model)
    assert model.denoiser.noise[-1].weight.abs().max() > 0, "it was trained"
    batch = torch.rand(4, 1, 8, 8)
    assert not torch.equal(model.denoiser(batch), batch)
    assert not any(part.training for part in model.modules())


def test_the_weights_of_an_mse_denoiser_do_not_depend_on_the_classifier(home, tmp_path):
    digests = []
    for name in ("clean", "other"):
        config = {**SMALL, "method": "denoiser-mse", "classifier": str(home / name)}
        digests.append(sc.train(config, tmp_path / name).denoised.digest)
    assert digests[0] == digests[1]


def test_the_folder_certifies_joins_ensembles_and_stores_the_classifier_once(home, tmp_path):
    config = {**SMALL, "method": "denoiser-stability", "classifier": str(home / "clean"), "seed": 2}
    sc.train(config, home / "second")
    stored = (home / "denoised" / "model.safetensors").stat().st_size
    weights = sum(
        value.numel() for value in load_checkpoint(home / "denoised")[0].denoiser.state_dict().values()
    )
    assert stored < 4 * weights + 3_000
    folders = [home / "denoised", home / "second", home / "denoised" / "best"]
    sc.save_ensemble(folders, home / "both")
    ensemble, card = load_model(home / "both")
    assert len({entry.digest for entry in card.members[:2]}) == 2
    image = sc.load_dataset("digits", "test").batch([0])[0]
    classifier = sc.load_classifier(home / "both")
    assert classifier.noise == sc.Gaussian(0.25)
    found = classifier.certify(image, procedure=sc.FixedSample(n=200), seed=1, engine="torch")
    assert found.samples == 300
    with torch.no_grad():
        expected = torch.stack([member(image[None]) for member in ensemble.members]).mean(dim=0)
        torch.testing.assert_close(ensemble(image[None]), expected)


class StoppedError(Exception):
    pass


def test_stopped_and_continued_it_ends_with_the_same_bits(home, tmp_path):
    def stop(metrics):
        raise StoppedError

    config = {**SMALL, "method": "denoiser-stability", "classifier": str(home / "clean")}
    with pytest.raises(StoppedError):
        sc.train(config, tmp_path / "parts", on_epoch=stop)
    shutil.copytree(home / "clean", tmp_path / "moved")  # where the classifier lies changes nothing
    sc.train({**config, "classifier": str(tmp_path / "moved")}, tmp_path / "parts", resume=True)
    assert read_card(tmp_path / "parts").digest == read_card(home / "denoised").digest
    for place in ("", "best"):
        assert (
            read_card(tmp_path / "parts" / place).denoised.classifier_digest
            == read_card(home / "clean").digest
        )
    with pytest.raises(CheckpointError, match="another digests"):
        sc.train({**config, "classifier": str(home / "other")}, tmp_path / "parts", resume=True)


def test_a_denoiser_moves_before_another_classifier(home, tmp_path):
    card = denoise(home / "denoised", home / "other", tmp_path / "out")
    model, found = load_checkpoint(tmp_path / "out")
    assert found == card
    old, other = load_checkpoint(home / "denoised")[0], load_checkpoint(home / "other")[0]
    batch = torch.rand(4, 1, 8, 8)
    assert torch.equal(model(batch), other(old.denoiser(batch)))
    with pytest.raises(InvalidArgumentError, match="holds no denoiser"):
        denoise(home / "clean", home / "other", tmp_path / "more")
    with pytest.raises(InvalidArgumentError, match="has a denoiser already"):
        denoise(home / "denoised", home / "denoised", tmp_path / "more")


def test_what_does_not_fit_is_refused_before_training(home, tmp_path):
    config = {**SMALL, "method": "denoiser-mse"}
    with pytest.raises(InvalidArgumentError, match=r"say which one: classifier=FOLDER \(--classifier"):
        sc.train(config, tmp_path / "out")
    with pytest.raises(CheckpointError, match="is not a model folder"):
        sc.train({**config, "classifier": str(tmp_path / "none")}, tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="has a denoiser already"):
        sc.train({**config, "classifier": str(home / "denoised")}, tmp_path / "out")
    changed = json.loads((home / "clean" / "model.json").read_text())
    (tmp_path / "large").mkdir()
    (tmp_path / "large" / "model.json").write_text(json.dumps({**changed, "input_shape": [1, 28, 28]}))
    with pytest.raises(
        InvalidArgumentError, match=r"has input_shape \(1, 28, 28\), but data set 'digits' has"
    ):
        sc.train({**config, "classifier": str(tmp_path / "large")}, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def movable(home, tmp_path):
    """A copy of the classifier and its denoiser, to be spoilt."""
    for name in ("clean", "denoised"):
        shutil.copytree(home / name, tmp_path / name)
    return tmp_path


def test_moved_together_they_still_load(movable):
    assert isinstance(load_checkpoint(movable / "denoised")[0], Denoised)


def test_another_classifier_in_its_place_is_refused(home, movable):
    shutil.rmtree(movable / "clean")
    shutil.copytree(home / "other", movable / "clean")
    with pytest.raises(CheckpointError, match=r"classifier \.\./clean has changed: digest .*, expected"):
        load_checkpoint(movable / "denoised")
    shutil.rmtree(movable / "clean")
    with pytest.raises(CheckpointError, match="is not a model folder"):
        load_checkpoint(movable / "denoised")


@pytest.mark.parametrize("change", [{"width": 5}, {"depth": 4}, {"depth": 0}])
def test_a_card_of_another_size_is_refused(movable, change):
    path = movable / "denoised" / "model.json"
    card = json.loads(path.read_text())
    card["denoised"] |= change
    path.write_text(json.dumps(card))
    with pytest.raises(CheckpointError, match=r"does not fit architecture|cannot build the network"):
        load_checkpoint(movable / "denoised")
