"""Many images at once: one answer each, and no vote other than in a call of its own."""

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError, InvalidImageError

SHAPE = (2, 3)
IMAGES = torch.rand(5, *SHAPE, generator=torch.Generator().manual_seed(3))
FEW = sc.Sequential(radius=0.1, max_samples=640)
HOW = {"seed": 8, "workers": 1}


def network():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(4)
        return torch.nn.Sequential(torch.nn.Flatten(), torch.nn.Linear(6, 3)).eval()


def smoothed(input_shape=SHAPE, model=None):
    return sc.SmoothedClassifier(model or network(), sc.Gaussian(0.5), 3, input_shape=input_shape)


def about(certificate):
    """All that a certificate says but the time it took."""
    return {name: value for name, value in vars(certificate).items() if name != "seconds"}


@pytest.mark.parametrize("workers, batch_size", [(1, None), (2, 50), (1, 4_096)])
@pytest.mark.parametrize("model", [None, lambda batch: (network()(batch),)])
def test_votes_are_those_of_single_calls(workers, batch_size, model):
    classifier = smoothed(model=model)
    together = classifier.certify(IMAGES, FEW, seed=8, index=7, workers=workers, batch_size=batch_size)
    single = [classifier.certify(image, FEW, index=7 + n, **HOW) for n, image in enumerate(IMAGES)]
    assert [about(one) for one in together] == [about(one) for one in single]
    assert len({one.counts.votes.tobytes() for one in together}) > 1  # or nothing was told apart
    several = classifier.predict(IMAGES, 300, seed=8, index=7, workers=workers, batch_size=batch_size)
    assert several == [classifier.predict(image, 300, index=7 + n, **HOW) for n, image in enumerate(IMAGES)]


def test_places_may_be_chosen():
    classifier = smoothed()
    chosen = classifier.certify(IMAGES[:3], FEW, index=[9, 2, 4], **HOW)
    assert [one.index for one in chosen] == [9, 2, 4]
    assert about(chosen[1]) == about(classifier.certify(IMAGES[1], FEW, index=2, **HOW))
    for index in ([1, 2], [1, 2, 2], [1, 2, -3], [1, 2, "3"], 1.5):
        with pytest.raises(InvalidArgumentError, match="index must be"):
            classifier.certify(IMAGES[:3], FEW, index=index, **HOW)
    with pytest.raises(InvalidArgumentError, match=r"index must be an integer >= 0, got \[1\]"):
        classifier.certify(IMAGES[0], FEW, index=[1], **HOW)


MANY = {
    "tensor": IMAGES[:2],
    "array": IMAGES[:2].numpy(),
    "bytes": (IMAGES[:2] * 255).to(torch.uint8),
    "lists of numbers": IMAGES[:2].tolist(),
    "list of tensors": list(IMAGES[:2]),
    "tuple of arrays": tuple(IMAGES[:2].numpy()),
    "list of unlike": [IMAGES[0], IMAGES[1].tolist()],
}


@pytest.mark.parametrize("name", MANY)
def test_many_where_the_shape_of_one_is_known(name):
    assert len(smoothed().predict(MANY[name], 64, **HOW)) == 2


def test_one_where_nothing_says_otherwise():
    """Without the shape of an image only a list of arrays is many, so a batch is never guessed."""
    unknown = smoothed(None)
    assert isinstance(unknown.certify(IMAGES[0].tolist(), FEW, **HOW), sc.Certificate)
    assert isinstance(unknown.certify([IMAGES[0]], FEW, **HOW), list)
    assert len(unknown.predict(list(IMAGES), 64, **HOW)) == len(IMAGES)
    with pytest.raises(InvalidImageError, match="of the shape the model takes"):
        unknown.certify(IMAGES, FEW, **HOW)
    vector = sc.SmoothedClassifier(lambda batch: batch, sc.Gaussian(0.5), 3)
    assert isinstance(vector.certify([0.1, 0.2, 0.9], FEW, **HOW), sc.Certificate)
    assert isinstance(smoothed().certify(IMAGES[0], FEW, **HOW), sc.Certificate)
    assert len(smoothed().certify(IMAGES[:1], FEW, **HOW)) == 1


def test_refusals():
    for empty in ([], (), IMAGES[:0]):
        with pytest.raises(InvalidImageError, match="no image in the list or batch"):
            smoothed().certify(empty, FEW, **HOW)
    with pytest.raises(InvalidImageError, match=r"image 1 has \(3, 2\) and the first \(2, 3\)"):
        smoothed(None).certify([IMAGES[0], IMAGES[1].T], FEW, **HOW)
    with pytest.raises(InvalidImageError, match=r"shape \(3, 2\), but the model takes \(2, 3\)"):
        smoothed().certify(IMAGES.transpose(1, 2), FEW, **HOW)
    with pytest.raises(InvalidImageError, match="NaN"):
        smoothed().certify([IMAGES[0], IMAGES[1] * np.nan], FEW, **HOW)
    with pytest.raises(InvalidImageError, match=r"values from 0 to 2"):
        smoothed().certify([IMAGES[0], torch.linspace(0, 2, 6).reshape(SHAPE)], FEW, **HOW)
