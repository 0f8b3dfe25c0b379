"""A model asked about what it was not trained for: one line; labels it has no class for: refused."""

import logging

import numpy as np
import pytest
import torch

import smoothcert as sc
from smoothcert.certificates import TrainedFor, check_match
from smoothcert.errors import DataError, InvalidArgumentError
from smoothcert.folders import save_ensemble, trained_on

FAST = {
    "procedure": sc.FixedSample(n0=10, n=20),
    "seed": 1,
    "indices": range(2),
    "engine": "torch",
    "workers": 1,
}


def lines(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "smoothcert"]


def test_its_own_data_set_classes_and_noise_need_no_line(classifier, digits, caplog):
    sc.certify(classifier, digits, **FAST)
    assert lines(caplog) == []


def test_another_data_set_gets_one_line(classifier, digits, caplog):
    others = sc.Dataset.from_arrays(digits.images, digits.labels, name="mine")
    with caplog.at_level(logging.WARNING, logger="smoothcert"):
        sc.certify(classifier, others, **FAST)
    (line,) = lines(caplog)
    assert "data set mine (trained on digits)" in line
    assert "classes" not in line  # numbers that nobody chose say nothing
    assert "noise" not in line


def test_other_classes_are_named(classifier, digits, caplog):
    names = [f"class {number}" for number in range(10)]
    others = sc.Dataset.from_arrays(digits.images, digits.labels, name="digits", class_names=names)
    sc.certify(classifier, others, **FAST)
    (line,) = lines(caplog)
    assert "with other classes" in line


NAMES = ("bright", "dark", "grey")


def three(names):
    images = np.linspace(0, 1, 12, dtype=np.float32).reshape(3, 4)
    return sc.Dataset.from_arrays(images, [0, 1, 2], class_names=names)


def named(names, card=None):
    weights = torch.randn(4, 3, generator=torch.Generator().manual_seed(0))
    classifier = sc.SmoothedClassifier(lambda batch: batch @ weights, sc.Gaussian(0.25), 3, class_names=names)
    if card is not None:
        classifier.trained_for = TrainedFor((), sc.Gaussian(0.25), card)
    return classifier


@pytest.mark.parametrize("card", [False, True])
def test_class_names_in_another_order_are_refused(card, tmp_path):
    classifier = named(None, NAMES) if card else named(list(NAMES))
    how = {**FAST, "engine": "auto"}
    words = "class 0 is 'bright' for the model but 'dark' in custom, .* in another order"
    with pytest.raises(InvalidArgumentError, match=words):
        sc.certify(classifier, three(["dark", "bright", "grey"]), out=tmp_path / "run", **how)
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "names, others",
    [
        (NAMES, NAMES),
        (NAMES, None),
        (None, NAMES),
        (NAMES, ("dark", "bright", "white")),  # other classes are no other order
        (("0", "1", "2"), ("1", "0", "2")),  # numbers that nobody chose say nothing
    ],
)
def test_class_names_that_say_nothing_about_the_order_are_taken(names, others):
    check_match(named(names), three(others), range(3))


def test_other_noise_is_named_with_both_laws(model_folder, digits, caplog):
    sc.certify(sc.load_classifier(model_folder, noise=sc.Gaussian(0.5)), digits, **FAST)
    (line,) = lines(caplog)
    assert "under gaussian sigma 0.5 noise (trained under gaussian sigma 0.25)" in line


def test_the_float_safe_form_of_its_noise_is_its_own(model_folder, digits, caplog):
    sc.certify(sc.load_classifier(model_folder, noise=sc.GridGaussian(0.25)), digits, **FAST)
    assert lines(caplog) == []
    sc.certify(sc.load_classifier(model_folder, noise=sc.GridGaussian(0.5)), digits, **FAST)
    assert len(lines(caplog)) == 1


def test_a_model_without_a_card_gets_no_line(classifier, digits, caplog):
    bare = sc.SmoothedClassifier(classifier.model, sc.Gaussian(0.5), 10)
    sc.certify(bare, digits, **FAST)
    assert lines(caplog) == []


def test_labels_beyond_the_classes_are_refused_and_nothing_is_written(classifier, digits, tmp_path):
    labels = digits.labels[:4].copy()
    labels[2] = 11
    others = sc.Dataset.from_arrays(digits.images[:4], labels)
    with pytest.raises(InvalidArgumentError, match=r"image 2 of custom has label 11, .* 10 classes, 0 to 9"):
        sc.certify(classifier, others, out=tmp_path / "run", **{**FAST, "indices": range(4)})
    assert not (tmp_path / "run").exists()
    sc.certify(classifier, others, **FAST)  # the images asked about have labels of the model


@pytest.mark.parametrize("labels", [[0, -1], [0, 3]])
def test_from_arrays_refuses_labels_outside_its_classes(labels):
    with pytest.raises(DataError, match=r"labels must lie in 0\.\.2"):
        sc.Dataset.from_arrays(np.zeros((2, 1, 2, 2), dtype=np.uint8), labels, class_names=["a", "b", "c"])


def test_the_attack_refuses_them_too(classifier, digits, tmp_path):
    others = sc.Dataset.from_arrays(digits.images, digits.labels + 90, name="mine")
    with pytest.raises(InvalidArgumentError, match="image 0 of mine has label 9"):
        sc.attack_images(classifier, others, radii=(0.1,), indices=[0], n=50, seed=1, out=tmp_path / "a")


def test_an_ensemble_learnt_from_what_its_members_did(model_folder, tmp_path):
    save_ensemble([model_folder, model_folder], tmp_path / "e")
    save_ensemble([tmp_path / "e", model_folder], tmp_path / "nested")
    assert trained_on(tmp_path / "nested") == ("digits",)
    assert sc.load_classifier(tmp_path / "nested").trained_for.datasets == ("digits",)


def test_images_that_were_learnt_get_a_line(classifier, caplog):
    how = {"procedure": sc.FixedSample(n0=16, n=64), "seed": 1, "workers": 1, "indices": [0]}
    for split, said in (("holdout", []), ("train", ["the model has learnt from digits (train)"])):
        caplog.clear()
        sc.certify(classifier, sc.load_dataset("digits", split), **how)
        assert [record.getMessage().split(":")[0] for record in caplog.records] == said
