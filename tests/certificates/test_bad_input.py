"""What no certificate could be true about is refused by a named error that states the value and the fix."""

import threading

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError, InvalidImageError, ModelOutputError, UnsoundModelError
from truth import CENTRE, half_space

SHAPE = (1, 8, 8)
QUICK = sc.FixedSample(n0=64, n=200)


def network():
    """A small network on 8x8 images with everything that train mode changes."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = (torch.nn.Flatten(), torch.nn.Linear(64, 8), torch.nn.BatchNorm1d(8), torch.nn.Linear(8, 3))
        return torch.nn.Sequential(*layers).eval()


FIXED = network()


def smoothed(model=None, classes=3, **options):
    return sc.SmoothedClassifier(FIXED if model is None else model, sc.Gaussian(0.25), classes, **options)


def refuse(kind, classifier, image=None, **options):
    """Both questions are refused alike; return the sentence."""
    image = torch.full(SHAPE, 0.5) if image is None else image
    with pytest.raises(kind) as by_certify:
        classifier.certify(image, QUICK, seed=1, **options)
    with pytest.raises(kind) as by_predict:
        classifier.predict(image, 100, seed=1, **options)
    assert type(by_certify.value) is kind  # not a relative of it by accident
    assert str(by_certify.value) == str(by_predict.value)
    return str(by_certify.value)


def image_with(value):
    image = torch.full(SHAPE, 0.5)
    image[0, 3, 4] = value
    return image


IMAGES = {
    "NaN": (image_with(float("nan")), "NaN or infinite values; fix the data"),
    "infinity": (image_with(float("inf")), "NaN or infinite values; fix the data"),
    "too bright": (image_with(1.5), "values from 0.5 to 1.5, but pixels span [0, 1]"),
    "negative": (image_with(-0.25).numpy(), "values from -0.25 to 0.5"),
    "bytes as floats": (np.full(SHAPE, 255.0), "divide by 255"),
    "empty": (torch.empty(1, 0, 8), "the image is empty (shape (1, 0, 8))"),
    "wrong shape": (
        torch.full((1, 9, 9), 0.5),
        "RuntimeError on a float32 torch tensor of shape (48, 1, 9, 9)",
    ),
    "no image": (None, "cannot read an image from"),
    "ragged": ([[0.1, 0.2], [0.3]], "cannot read an image from list"),
    "words": ("digit.png", "cannot read an image from str"),
}


@pytest.mark.parametrize("case", IMAGES)
def test_images(case):
    image, reason = IMAGES[case]
    with pytest.raises(InvalidImageError) as refusal:
        smoothed().certify(image, QUICK)
    assert reason in str(refusal.value)
    with pytest.raises(InvalidImageError) as refusal:
        smoothed().predict(image)
    assert reason in str(refusal.value)


def test_known_shape_is_checked_before_the_model_is_asked():
    seen = []
    classifier = smoothed(lambda batch: seen.append(batch), input_shape=SHAPE)
    reason = refuse(InvalidImageError, classifier, torch.full((1, 4, 16), 0.5))
    assert reason == "the image has shape (1, 4, 16), but the model takes (1, 8, 8)"
    assert seen == []


def test_any_range_is_accepted_when_asked_for_but_not_nan():
    classifier = smoothed(allow_any_range=True)
    assert classifier.certify(image_with(-7.5), QUICK, seed=1).samples == 264
    assert "NaN" in refuse(InvalidImageError, classifier, image_with(float("nan")))


def test_train_mode():
    with pytest.raises(
        UnsoundModelError, match=r"train mode \(the model itself\).*call model.eval\(\) first"
    ):
        smoothed(network().train())
    part = network()
    part[2].train()
    with pytest.raises(UnsoundModelError, match=r"train mode \(2\).*call model.eval\(\) first"):
        smoothed(part)
    later = network()
    classifier = smoothed(later)
    later[2].train()  # after the classifier was made
    assert "train mode (2)" in refuse(UnsoundModelError, classifier)


def test_answers_that_differ_between_two_calls():
    for p in (0.5, 0.02):
        dropping = smoothed(
            lambda batch, p=p: FIXED(F.dropout(batch, p))
        )  # training=True is F.dropout's default
        assert "remove randomness such as functional dropout" in refuse(UnsoundModelError, dropping)


def test_answers_that_depend_on_the_batch():
    training = network().train()
    frozen = [buffer.clone() for buffer in training.buffers()]

    def model(batch):  # the buffers move, but no answer depends on them: only the neighbours show
        return training(batch)

    assert "depends on the other images of the batch" in refuse(UnsoundModelError, smoothed(model))
    assert not torch.equal(frozen[0], next(training.buffers()))
    centred = smoothed(lambda batch: FIXED(batch - batch.mean(dim=0)))
    assert "depends on the other images of the batch" in refuse(UnsoundModelError, centred)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_logits_that_are_no_numbers(value):
    always = smoothed(lambda batch: torch.full((len(batch), 3), value))
    assert 'on_nan="count"' in refuse(ModelOutputError, always)
    rarely = smoothed(lambda batch: torch.where(batch[:, 0, 0, :1] > 1.2, value, FIXED(batch)))
    with pytest.raises(ModelOutputError, match=r"answered \d+ of \d+ noisy images with NaN or infinite"):
        rarely.certify(torch.full(SHAPE, 0.5), sc.FixedSample(n=20_000), seed=1)


@pytest.mark.parametrize("workers", [1, 2])
def test_nan_votes_count_in_the_denominator(workers):
    doubtful = half_space(0.25, doubt=0.1)
    noise, image = sc.Gaussian(0.25), torch.full((1,), CENTRE)
    counting = sc.SmoothedClassifier(doubtful, noise, 2, on_nan="count")
    found = counting.certify(image, sc.FixedSample(n=6_400), seed=3, workers=workers)
    answered = int(found.counts.votes.sum())
    assert found.counts.drawn == 6_400
    assert found.counts.unanswered == 6_400 - answered
    assert 0.1 < found.counts.unanswered / 6_400 < 0.3  # the truth is Phi(1.4) - Phi(.6) = .194
    sure = sc.SmoothedClassifier(half_space(0.25), noise, 2)
    assert found.p_lower < sure.certify(image, sc.FixedSample(n=6_400), seed=3).p_lower
    assert found.p_lower < found.counts.votes[1] / 6_400
    all_nan = sc.SmoothedClassifier(lambda b: torch.full((len(b), 2), torch.nan), noise, 2, on_nan="count")
    nothing = all_nan.certify(image, QUICK, seed=3, workers=workers)
    assert (nothing.outcome, nothing.predicted, nothing.radius) == (sc.Outcome.NO_MAJORITY, None, 0.0)
    assert all_nan.predict(image, 200, seed=3, workers=workers) is None


@pytest.mark.parametrize("classes", [2, 4])
def test_number_of_logits(classes):
    reason = refuse(ModelOutputError, smoothed(classes=classes))
    assert f"logits of shape (48, {classes}), got (48, 3)" in reason
    assert "set num_classes to the model's number of logits" in reason
    flat = smoothed(lambda batch: FIXED(batch).argmax(dim=1))
    assert "got (48,)" in refuse(ModelOutputError, flat)


@pytest.mark.parametrize("classes", [1, 0, -3, 2.0, True, None])
def test_number_of_classes(classes):
    with pytest.raises(InvalidArgumentError, match=f"integer of at least 2, got {classes}"):
        smoothed(classes=classes)


def test_things_of_the_wrong_kind():
    image = torch.full(SHAPE, 0.5)
    for noise in (0.25, "gaussian", None, sc.Gaussian):
        with pytest.raises(
            InvalidArgumentError, match=r"noise must be a noise law such as Gaussian\(0.25\), got"
        ):
            sc.SmoothedClassifier(FIXED, noise, 3)
    with pytest.raises(InvalidArgumentError, match="model must be a callable"):
        sc.SmoothedClassifier("model.pt", sc.Gaussian(0.25), 3)
    with pytest.raises(InvalidArgumentError, match="on_nan must be one of raise, count, got 'skip'"):
        smoothed(on_nan="skip")
    for procedure in ("fixed", sc.FixedSample, 100_000):
        with pytest.raises(InvalidArgumentError, match=r"procedure must be one of FixedSample, .* got"):
            smoothed().certify(image, procedure)
    for options in (
        {"alpha": 0},
        {"alpha": 1.5},
        {"seed": -1},
        {"seed": 2**128},
        {"seed": 1.0},
        {"seed": True},
    ):
        with pytest.raises(InvalidArgumentError, match=f"got {next(iter(options.values()))}"):
            smoothed().certify(image, QUICK, **options)
    for options in ({"index": -1}, {"workers": 0}, {"workers": 1.5}, {"batch_size": 0}, {"batch_size": True}):
        with pytest.raises(InvalidArgumentError, match=f"got {next(iter(options.values()))}"):
            smoothed().certify(image, QUICK, **options)


@pytest.mark.parametrize(
    ("indices", "reason"),
    [
        ([], r"got \[\]"),
        ([0, 6], "got 6"),
        ([-1], "got -1"),
        ([1, 1], r"got \[1, 1\]"),
        ([0, 5], "image 5 of"),
    ],
)
def test_a_data_set_is_checked_before_anything_is_written(indices, reason, tmp_path):
    images = np.full((6, *SHAPE), 0.5, dtype=np.float32)
    images[5, 0, 0, 0] = np.nan
    dataset = sc.Dataset.from_arrays(images, np.zeros(6, dtype=np.int64))
    out = tmp_path / "runs" / "x"
    with pytest.raises((InvalidArgumentError, InvalidImageError), match=reason):
        sc.certify(smoothed(), dataset, procedure=QUICK, indices=indices, out=out)
    assert list(tmp_path.iterdir()) == []
    sc.certify(smoothed(), dataset, procedure=QUICK, indices=[0, 4], out=out)
    assert len(sc.Run.open(out)) == 2


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("fails", [False, True])
def test_torchs_threads_and_random_state_stay_as_they_were(fails, workers, tmp_path):
    def model(batch):
        if fails and len(batch) > 48:  # more than the first few rows
            raise RuntimeError("out of memory")
        return FIXED(batch)

    image, before = torch.full(SHAPE, 0.5), torch.get_num_threads()
    dataset = sc.Dataset.from_arrays(image.numpy()[None], np.zeros(1, dtype=np.int64))
    classifier, options = smoothed(model), {"seed": 1, "workers": workers}
    votes = sc.FixedSample(n0=64, n=5_000)
    calls = (
        lambda: classifier.certify(image, votes, **options),
        lambda: classifier.predict(image, 5_000, **options),
        lambda: sc.certify(
            classifier, dataset, procedure=votes, out=tmp_path / "run", resume=True, **options
        ),
    )
    for threads in (1, 3):
        torch.set_num_threads(threads)
        try:
            states = torch.random.get_rng_state(), np.random.get_state()[1].tolist()
            for call in calls:
                if fails:
                    with pytest.raises(ModelOutputError, match=r"out of memory.*smaller batch_size"):
                        call()
                else:
                    call()
                assert torch.get_num_threads() == threads
                assert threads_of_a_new_thread() == threads
            assert torch.equal(torch.random.get_rng_state(), states[0])
            assert np.random.get_state()[1].tolist() == states[1]
        finally:
            torch.set_num_threads(before)
    assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("smoothcert")]


def threads_of_a_new_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(torch.get_num_threads()))
    thread.start()
    thread.join()
    return found[0]
