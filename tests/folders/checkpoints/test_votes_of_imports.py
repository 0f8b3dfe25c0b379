"""An imported network votes as the published one does, vote for vote, in the format that its family publishes."""

import pytest
import torch
from torch import nn

import smoothcert as sc
from published_networks import (
    BufferedNormalise,
    Denoiser,
    Dense,
    LeNet,
    Normalise,
    SmallLeNet,
    balanced,
    cifar_resnet,
    drawn,
    parallel,
)

NOISE, CIFAR, MNIST = sc.Gaussian(0.5), (3, 32, 32), (1, 28, 28)


def votes(classifier, images):
    """Return the votes of a certified run, by image and class."""
    run = sc.certify(
        classifier, images, procedure=sc.FixedSample(n0=16, n=32), seed=5, engine="eager", workers=1
    )
    return [counts.votes.tolist() for counts in run.final_counts]


def assert_votes_alike(folder, published, shape):
    """Compare imported and published votes on two images, which must have votes for more than one class."""
    pixels = torch.randint(0, 256, (2, *shape), dtype=torch.uint8, generator=torch.Generator().manual_seed(1))
    images = sc.Dataset.from_arrays(pixels.numpy(), [0, 1], name="made-up", class_names=list("0123456789"))
    ours = votes(sc.load_classifier(folder), images)
    assert ours == votes(sc.SmoothedClassifier(published, noise=NOISE, num_classes=10), images)
    assert len(ours) == 2
    assert sum(map(bool, torch.tensor(ours).sum(0).tolist())) > 1


def optimizer_of(model):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.rand(2, *CIFAR)).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


@pytest.mark.slow
@pytest.mark.parametrize("legacy", [False, True], ids=["zip", "legacy"])
def test_cohen(tmp_path, legacy):
    network = drawn(cifar_resnet(20))
    model = balanced(nn.Sequential(Normalise(), network).eval(), network.fc, CIFAR)
    optimizer = optimizer_of(drawn(cifar_resnet(8)))
    content = {
        "epoch": 90,
        "arch": "cifar_resnet20",
        "state_dict": model.state_dict(),
        "optimizer": optimizer,
    }
    torch.save(content, tmp_path / "checkpoint.pth.tar", _use_new_zipfile_serialization=not legacy)
    card = sc.import_checkpoint(
        tmp_path / "checkpoint.pth.tar", tmp_path / "m", noise=NOISE, dataset="cifar10", family="cohen"
    )
    assert (card.architecture, card.method, card.dataset["name"]) == ("resnet20", "imported", "cifar10")
    assert card.class_names[0] == "airplane"
    record = card.training["imported"]
    assert record["dropped"] == ["epoch 90", "optimizer"]
    assert record["prefixes"] == ["1."]
    assert record["families"] == ["cohen"]
    if not legacy:
        assert_votes_alike(tmp_path / "m", model, CIFAR)


@pytest.mark.parametrize("names", ["smoothadv", "cohen"])
def test_the_family_decides_between_centring_and_standardising(tmp_path, names):
    network = drawn(cifar_resnet(8))
    model = nn.Sequential(Normalise(std=None) if names == "smoothadv" else Normalise(), network).eval()
    balanced(model, network.fc, CIFAR)
    torch.save({"epoch": 1, "state_dict": model.state_dict()}, tmp_path / "c")
    sc.import_checkpoint(tmp_path / "c", tmp_path / "m", noise=NOISE, dataset="cifar10", family=names)
    assert_votes_alike(tmp_path / "m", model, CIFAR)


@pytest.mark.parametrize("std", [(0.2, 0.25, 0.3), None], ids=["standardised", "centred"])
def test_numbers_in_the_file_count_and_wrappers_of_wrappers_come_off(tmp_path, std):
    network = drawn(cifar_resnet(8))
    model = parallel(nn.Sequential(parallel(BufferedNormalise(std=std)), parallel(network)).eval())
    balanced(model, network.fc, CIFAR)
    torch.save(model.state_dict(), tmp_path / "c")
    card = sc.import_checkpoint(tmp_path / "c", tmp_path / "m", noise=NOISE)
    assert card.training["imported"]["prefixes"] == ["module.", "1.", "module."]
    assert card.dataset["name"] == "unknown"
    assert_votes_alike(tmp_path / "m", model, CIFAR)


def test_five_heads_of_some(tmp_path):
    network = drawn(cifar_resnet(8, heads=5))
    model = balanced(nn.Sequential(Normalise(), network).eval(), network.heads[0][1], CIFAR)
    torch.save({"state_dict": model.state_dict()}, tmp_path / "epoch150.pth")
    card = sc.import_checkpoint(tmp_path / "epoch150.pth", tmp_path / "m", noise=NOISE, dataset="cifar10")
    assert (card.architecture, card.heads) == ("resnet8", 5)
    assert card.training["imported"]["families"] == ["some"]
    assert_votes_alike(tmp_path / "m", model, CIFAR)


def test_macer_and_its_lenet_take_images_as_they_are(tmp_path):
    model = drawn(LeNet())
    balanced(model, model.fc2, MNIST)
    torch.save({"net": model.state_dict(), "epoch": 440}, tmp_path / "440.pth")
    card = sc.import_checkpoint(
        tmp_path / "440.pth", tmp_path / "m", noise=NOISE, dataset="mnist", family="macer"
    )
    assert (card.architecture, card.mean, card.std) == ("lenet", (0.0,), (1.0,))
    assert card.training["holdout"] == "none"
    assert_votes_alike(tmp_path / "m", model, MNIST)


def test_lenet_of_consistency_behind_an_identity(tmp_path):
    model = nn.Sequential(nn.Identity(), drawn(LeNet())).eval()
    balanced(model, model[1].fc2, MNIST)
    torch.save({"arch": "lenet", "state_dict": model.state_dict()}, tmp_path / "c")
    sc.import_checkpoint(
        tmp_path / "c", tmp_path / "m", noise=NOISE, dataset="mnist"
    )  # all families agree on it
    assert_votes_alike(tmp_path / "m", model, MNIST)


def test_sween_s_lenet_and_its_hold_out(tmp_path):
    model = drawn(SmallLeNet())
    balanced(model, model.fc_3, CIFAR)
    torch.save({"net": model.state_dict(), "epoch": 400}, tmp_path / "c")
    card = sc.import_checkpoint(
        tmp_path / "c", tmp_path / "m", noise=NOISE, dataset="svhn", family="sween", arch="lenet"
    )
    assert (card.architecture, card.training["holdout"]) == ("lenet-cifar", 2_000)
    assert_votes_alike(tmp_path / "m", model, CIFAR)


def test_a_denoiser_before_an_imported_classifier(tmp_path):
    network, denoiser = drawn(cifar_resnet(8)), drawn(Denoiser(5, 8), seed=1)
    for layer in denoiser.dncnn:  # variances near zero: there its larger epsilon is much of the sum
        if isinstance(layer, nn.BatchNorm2d):
            layer.running_var.mul_(1e-4)
            layer.weight.data.mul_(1e-2)
    classifier = nn.Sequential(Normalise(), network).eval()
    both = balanced(nn.Sequential(denoiser, classifier).eval(), network.fc, CIFAR)
    torch.save({"arch": "cifar_resnet8", "state_dict": classifier.state_dict()}, tmp_path / "c")
    state = parallel(denoiser).state_dict()
    torch.save({"epoch": 9, "state_dict": state, "optimizer": {}}, tmp_path / "best.pth.tar")
    known = {"noise": NOISE, "dataset": "cifar10"}
    sc.import_checkpoint(tmp_path / "c", tmp_path / "plain", family="cohen", arch="resnet8", **known)
    card = sc.import_checkpoint(
        tmp_path / "best.pth.tar", tmp_path / "m", classifier=tmp_path / "plain", **known
    )
    assert (card.denoised.depth, card.denoised.width, card.denoised.classifier) == (5, 8, "../plain")
    assert any("epsilon" in note for note in card.training["imported"]["notes"])
    assert_votes_alike(tmp_path / "m", both, CIFAR)


@pytest.mark.slow
def test_densenet40_answers_alike(tmp_path):
    network = drawn(Dense(6, "short"))
    model = nn.Sequential(Normalise(), network).eval()
    torch.save({"arch": "cifar_densenet40", "state_dict": model.state_dict()}, tmp_path / "c")
    card = sc.import_checkpoint(tmp_path / "c", tmp_path / "m", noise=NOISE, dataset="cifar10")
    assert card.training["imported"]["families"] == ["consistency"]
    batch = torch.rand(16, *CIFAR, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        torch.testing.assert_close(sc.load_model(tmp_path / "m")[0](batch), model(batch))


def test_old_files_without_counters_and_files_of_half_precision(tmp_path):
    network = drawn(cifar_resnet(8)).half().float()  # numbers that 16 bits hold
    state = {name: value.half() for name, value in network.state_dict().items() if "tracked" not in name}
    torch.save({"net": state}, tmp_path / "c")
    card = sc.import_checkpoint(tmp_path / "c", tmp_path / "m", noise=NOISE)
    assert len(card.training["imported"]["notes"]) == 2
    batch = torch.rand(16, *CIFAR, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        assert torch.equal(sc.load_model(tmp_path / "m")[0](batch), network(batch))


def test_members_of_an_ensemble_may_be_imported(tmp_path):
    for seed in (0, 1):
        torch.save({"net": drawn(SmallLeNet(), seed).state_dict()}, tmp_path / "c")
        sc.import_checkpoint(tmp_path / "c", tmp_path / f"m{seed}", noise=NOISE, dataset="cifar10")
    sc.save_ensemble([tmp_path / "m0", tmp_path / "m1"], tmp_path / "both", rule="softmax")
    batch = torch.rand(16, *CIFAR, generator=torch.Generator().manual_seed(2))
    with torch.no_grad():
        together = sum(drawn(SmallLeNet(), seed)(batch).softmax(1) for seed in (0, 1))
        assert torch.equal(sc.load_model(tmp_path / "both")[0](batch).argmax(1), together.argmax(1))
