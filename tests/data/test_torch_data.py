"""Data sets and loaders of torch: read whole, in their order, and refused where they are not the same twice."""

import numpy as np
import pytest
import torch
from PIL import Image
from torch.utils.data import DataLoader, IterableDataset, Subset, TensorDataset
from torch.utils.data import Dataset as TorchDataset

import smoothcert as sc
from smoothcert.data import Dataset
from smoothcert.errors import DataError, InvalidArgumentError

IMAGES = torch.rand(50, 1, 6, 7, generator=torch.Generator().manual_seed(0))
LABELS = torch.arange(50) % 3
PLAIN = TensorDataset(IMAGES, LABELS)
EXPECTED = Dataset.from_arrays(IMAGES, LABELS).digest


class Pictures(TorchDataset):
    """As torchvision has them: images of Pillow, a transform, and names of classes."""

    classes = ("cat", "dog", "eel")

    def __init__(self, transform=lambda image: image):
        self.transform = transform

    def __len__(self):
        return 50

    def __getitem__(self, place):
        pixels = (IMAGES[place, 0] * 255).to(torch.uint8).numpy()
        return self.transform(Image.fromarray(pixels)), int(LABELS[place])


def to_tensor(image):
    return torch.from_numpy(np.array(image)).float()[None] / 255


@pytest.mark.parametrize(
    "data",
    [
        PLAIN,
        DataLoader(PLAIN, batch_size=7),
        DataLoader(PLAIN),
        DataLoader(PLAIN, batch_size=None),
        DataLoader(PLAIN, batch_size=10, drop_last=True),  # nothing is dropped of 50
        DataLoader(PLAIN, batch_sampler=[list(range(30)), list(range(30, 50))]),
    ],
    ids=["data set", "loader", "one by one", "without batches", "whole batches", "own batches"],
)
def test_every_form_is_the_same_data(data):
    assert Dataset.from_torch(data).digest == EXPECTED


def test_a_subset_and_names_of_classes():
    subset = Subset(Subset(Pictures(to_tensor), range(10, 40)), [5, 1])
    found = Dataset.from_torch(DataLoader(subset), name="mine", split="holdout")
    assert (found.name, found.split, found.class_names) == ("mine", "holdout", ("cat", "dog", "eel"))
    assert found.labels.tolist() == [15 % 3, 11 % 3]
    assert torch.equal(found.image(0), to_tensor(Pictures()[15][0]))
    assert Dataset.from_torch(subset, class_names=["a", "b", "c"]).class_names == ("a", "b", "c")


def test_images_of_pillow_stay_bytes():
    found = Dataset.from_torch(Pictures())
    assert (found.images.dtype, found.input_shape) == (np.uint8, (1, 6, 7))
    assert torch.equal(found.image(3), to_tensor(Pictures()[3][0]))


class Growing(TorchDataset):
    def __len__(self):
        return 4

    def __getitem__(self, place):
        return torch.zeros(1, 6, 6 + place // 3), 0


class Dicts(Growing):
    def __getitem__(self, place):
        return {"image": torch.zeros(1, 6, 6), "label": 0, "more": 1}


class Halves(Growing):
    def __getitem__(self, place):
        return torch.zeros(1, 6, 6), 0.5


class Stream(IterableDataset):
    def __iter__(self):
        yield from PLAIN


def flipped_at_random():
    coins = np.random.default_rng(0)
    return Pictures(lambda image: to_tensor(image).flip(2) if coins.random() < 0.5 else to_tensor(image))


@pytest.mark.parametrize(
    "data, message",
    [
        (DataLoader(PLAIN, shuffle=True), "another one each time it is read.*shuffle=False"),
        (flipped_at_random(), "another one each time it is read; leave random transforms out"),
        (DataLoader(flipped_at_random(), batch_size=8), "another one each time it is read"),
        (DataLoader(PLAIN, batch_size=16, drop_last=True), "48 images of the 50 .* drop_last=False"),
        (Stream(), "Stream has no length.*from_arrays"),
        (DataLoader(Stream(), batch_size=4), "DataLoader has no length"),
        (Growing(), r"image 0 has \(1, 6, 6\) and image 3 \(1, 6, 7\); resize them in the transforms"),
        (Dicts(), r"must give \(image, label\), got dict of 3"),
        (TensorDataset(IMAGES), r"must give \(image, label\), got tuple of 1"),
        (Halves(), "single whole numbers, got 0.5"),
        (TensorDataset(IMAGES * 4 - 2, LABELS), "look normalised already"),
        (TensorDataset(IMAGES.permute(0, 2, 3, 1), LABELS), "layout=.NHWC"),
        ([IMAGES, LABELS], "must be a Dataset or a DataLoader of torch, got list"),
    ],
)
def test_what_is_refused(data, message):
    with pytest.raises(DataError, match=message):
        Dataset.from_torch(data)


def test_a_loader_is_certified_like_its_arrays(tmp_path):
    """Under noise, by a small network; continued from its folder, and audited with the loader."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(42, 3)).eval()
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(0.25), 3)
    how = {"procedure": sc.FixedSample(n0=64, n=256), "seed": 3, "workers": 1, "indices": range(6)}
    loader = DataLoader(PLAIN, batch_size=8)
    run = sc.certify(classifier, loader, **how, out=tmp_path / "run")
    plain = sc.certify(classifier, Dataset.from_arrays(IMAGES, LABELS), **how)
    assert run.results.radius.tolist() == plain.results.radius.tolist()
    assert run.manifest == plain.manifest
    again = sc.certify(classifier, PLAIN, **how, out=tmp_path / "run", resume=True)
    assert again.results.radius.tolist() == run.results.radius.tolist()
    assert sc.audit(tmp_path / "run", model=model, dataset=loader, workers=1).line.startswith(
        f"{tmp_path / 'run'} can be trusted"
    )
    other = TensorDataset(IMAGES.flip(0), LABELS)
    with pytest.raises(sc.errors.ManifestMismatchError, match=r"dataset\.digest"):
        sc.certify(classifier, other, **how, out=tmp_path / "run", resume=True)
    with pytest.raises(InvalidArgumentError, match=r"Dataset\.from_torch\(data\)"):
        sc.certify(classifier, [IMAGES, LABELS])
