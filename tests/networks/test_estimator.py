"""A fitted estimator votes for what it predicts, and its columns are the classes, or it is refused."""

import warnings

import numpy as np
import pytest
import torch
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import smoothcert as sc
from smoothcert.certificates import identities, is_settled
from smoothcert.errors import InvalidArgumentError, InvalidImageError, ModelOutputError, UnsoundModelError
from smoothcert.networks import as_model

CENTRES = np.array([[0.1, 0.1], [0.9, 0.1], [0.5, 0.9]])
POINTS = (CENTRES[np.arange(90) % 3] + 0.1 * np.random.default_rng(0).normal(size=(90, 2))).astype(np.float32)
LABELS = np.arange(90) % 3
BATCH = torch.rand(40, 1, 2, generator=torch.Generator().manual_seed(1))


KINDS = {
    "pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "neighbours": lambda: KNeighborsClassifier(5, algorithm="brute"),
    "ridge": lambda: RidgeClassifier(),
    "one against one": lambda: SVC(decision_function_shape="ovo"),  # three columns that are pairs of classes
    "one against all": lambda: SVC(),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
def test_the_largest_answer_is_what_it_predicts(kind, classes):
    kept = classes > LABELS
    estimator = KINDS[kind]().fit(POINTS[kept], LABELS[kept])
    answers = np.asarray(as_model(estimator, classes)(BATCH))
    assert answers.shape == (len(BATCH), classes)
    predicted = estimator.predict(BATCH.flatten(1).numpy())
    np.testing.assert_array_equal(answers.argmax(axis=1), predicted)
    assert len(set(predicted)) == classes  # or nothing was told apart


@pytest.mark.parametrize(
    "labels, classes, told",
    [
        (LABELS, 4, r"classes_ \[0, 1, 2\], but num_classes=4 means the labels 0 to 3, all of them"),
        (LABELS, 2, "num_classes=2"),
        (LABELS * 2, 3, r"classes_ \[0, 2, 4\]"),  # whose second column is class 2
        (LABELS + 1, 3, r"classes_ \[1, 2, 3\]"),
        (np.array(["c", "a", "b"])[LABELS], 3, r"classes_ \['a', 'b', 'c'\]"),
    ],
)
def test_other_classes_are_refused_by_name(labels, classes, told):
    estimator = KNeighborsClassifier(1).fit(POINTS, labels)
    with pytest.raises(InvalidArgumentError, match=told):
        sc.SmoothedClassifier(estimator, sc.Gaussian(0.1), classes)


def test_what_is_no_fitted_classifier_is_refused():
    several = MultiOutputClassifier(DummyClassifier()).fit(POINTS, np.stack([LABELS, LABELS], axis=1))
    for model in (KNeighborsClassifier(), LinearRegression().fit(POINTS, LABELS)):
        with pytest.raises(InvalidArgumentError, match="has no classes_: it is not fitted, or no classifier"):
            as_model(model, 3)
    with pytest.raises(InvalidArgumentError, match="MultiOutputClassifier has classes_"):
        as_model(several, 3)
    with pytest.raises(InvalidArgumentError, match="callable from batch to logits, or a fitted estimator"):
        as_model(StandardScaler().fit(POINTS), 3)


def test_probabilities_are_not_asked():
    class OwnProbabilities(KNeighborsClassifier):
        """Probabilities whose largest is never what it predicts, as those fitted by themselves may be."""

        def predict_proba(self, rows):
            return np.roll(super().predict_proba(rows), 1, axis=1)

    fitted = [kind(1).fit(POINTS, LABELS) for kind in (OwnProbabilities, KNeighborsClassifier)]
    np.testing.assert_array_equal(*[as_model(estimator, 3)(BATCH) for estimator in fitted])


def test_a_chosen_threshold_decides_the_votes():
    rng = np.random.default_rng(0)
    points = rng.random((200, 2)).astype(np.float32)
    estimator = FixedThresholdClassifier(
        LogisticRegression(C=100), threshold=0.01, response_method="predict_proba"
    ).fit(points, (points[:, 0] > 0.9).astype(int))
    image = np.array([0.85, 0.5], dtype=np.float32)
    noisy = (image + 0.02 * rng.normal(size=(500, 2))).astype(np.float32)
    assert (estimator.predict_proba(noisy).argmax(axis=1) == 0).mean() > 0.8  # or nothing is tried here
    assert (estimator.predict(noisy) == 1).mean() > 0.98
    few = sc.FixedSample(n0=32, n=256)
    found = sc.SmoothedClassifier(estimator, sc.Gaussian(0.02), 2).certify(image, few, seed=1, workers=1)
    assert found.predicted == 1


def test_several_labels_per_image_are_refused():
    labels = np.stack([POINTS[:, 0] > 0.5, POINTS[:, 1] > 0.5], axis=1).astype(int)
    several = OneVsRestClassifier(LogisticRegression()).fit(POINTS, labels)
    with pytest.raises(InvalidArgumentError, match="OneVsRestClassifier gives an image several labels"):
        sc.SmoothedClassifier(several, sc.Gaussian(0.1), 2)
    inside = sc.SmoothedClassifier(
        make_pipeline(StandardScaler(), OneVsRestClassifier(LogisticRegression())).fit(POINTS, labels),
        sc.Gaussian(0.1),
        2,
    )
    with pytest.raises(ModelOutputError, match=r"predicts an array of shape \(\d+, 2\) .*one class for each"):
        inside.certify(BATCH[0], sc.FixedSample(n0=32, n=64), seed=1, workers=1)


def test_one_column_of_classes_is_one_class_for_each_image():
    class InAColumn(KNeighborsClassifier):
        def predict(self, rows):
            return super().predict(rows)[:, None]

    fitted = [kind(1).fit(POINTS, LABELS) for kind in (InAColumn, KNeighborsClassifier)]
    np.testing.assert_array_equal(*[as_model(estimator, 3)(BATCH) for estimator in fitted])


def test_faults_at_a_call_are_named():
    fitted = KNeighborsClassifier(1).fit(POINTS, LABELS)
    model = as_model(fitted, 3)
    with pytest.raises(
        InvalidImageError, match=r"fitted on 2 features, but an image of shape \(3, 2\) has 6"
    ):
        model(torch.zeros(4, 3, 2))
    fitted.fit(POINTS, LABELS + 1)
    with pytest.raises(InvalidArgumentError, match=r"classes_ \[1, 2, 3\]"):
        model(BATCH)

    class SaysMinusOne:
        classes_ = np.arange(3)

        def predict(self, rows):
            return np.full(len(rows), -1)

    with pytest.raises(ModelOutputError, match=r"predicts -1, which is none of its classes_"):
        as_model(SaysMinusOne(), 3)(BATCH)


def test_an_estimator_that_writes_into_its_rows_is_refused():
    estimator = make_pipeline(StandardScaler(copy=False), LogisticRegression()).fit(POINTS.copy(), LABELS)
    with pytest.raises(UnsoundModelError):
        sc.SmoothedClassifier(estimator, sc.Gaussian(0.1), 3).certify(BATCH[0], seed=1, workers=1)


@pytest.mark.parametrize("kind", KINDS)
def test_its_identity_covers_what_was_fitted(kind):
    def fitted(points):
        return as_model(KINDS[kind]().fit(points, LABELS), 3)

    one, again, other = fitted(POINTS), fitted(POINTS), fitted(POINTS + 0.01 * POINTS[::-1])
    assert identities(one) == identities(again) != identities(other)
    assert is_settled(identities(one)[0])
    before = identities(one)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one(BATCH)
    assert identities(one) == before
