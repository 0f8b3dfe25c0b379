"""Attacks on smoothed classifiers: known optima, independent noise, and certificates that hold against them."""

import json
import math

import numpy as np
import pytest
import torch
from torch import nn

import smoothcert as sc
from smoothcert.errors import InvalidArgumentError, ManifestMismatchError, StoreError
from smoothcert.report import attack_to_json
from smoothcert.store import AttackedImage, AttackResults, Attempt, read_attack
from smoothcert.workflows import attack_images, attack_plan

SIGMA, MARGIN, DIMENSION = 0.25, 0.15, 4
FAST = {"steps": 5, "m": 16, "workers": 1}


class Plane(nn.Module):
    """Class 1 where the mean-free sum exceeds a level; under any noise the boundary is the same plane."""

    def __init__(self, margin=MARGIN):
        super().__init__()
        self.register_buffer("normal", torch.tensor([0.5, -0.5, 0.5, -0.5]))
        self.margin = margin

    def forward(self, batch):
        score = batch.flatten(1) @ self.normal + self.margin
        return 10 * torch.stack([-score, score], dim=1)


def points(count=3):
    """Grey points at the same distance from the plane, inside the pixel range."""
    return sc.Dataset.from_arrays(
        np.full((count, DIMENSION), 0.5, dtype=np.float32), np.ones(count, dtype=np.int64)
    )


@pytest.fixture
def plane():
    return sc.SmoothedClassifier(Plane().eval(), sc.Gaussian(SIGMA), 2)


@pytest.mark.parametrize("method", ["pgd", "apgd-ce"])
def test_the_optimal_attack_on_a_half_space_is_found_and_no_better_one(method, plane, tmp_path):
    """Just above the margin every image breaks, just below none can."""
    options = {"method": method, "n": 100_000, "seed": 1, "m": 16, "workers": 1}
    options |= {"steps": 5} if method == "pgd" else {}
    above = attack_images(plane, points(2), radii=(1.1 * MARGIN,), out=tmp_path / "above", **options)
    assert (above.broken_at <= 1.1 * MARGIN).all()
    assert (above.broken_at > MARGIN).all()
    below = attack_images(plane, points(2), radii=(0.9 * MARGIN,), out=tmp_path / "below", **options)
    assert np.isinf(below.broken_at).all()
    for image in below.images:  # it went as far as it may, straight at the plane
        assert image.attempts[1].distance == pytest.approx(0.9 * MARGIN, rel=1e-3)


def test_certificates_of_a_half_space_hold(plane, tmp_path):
    run = sc.certify(plane, points(5), procedure=sc.FixedSample(n=20_000), seed=2, workers=1)
    found = attack_images(
        plane, points(5), radii=(0.1, 0.2), run=run, out=tmp_path / "a", n=20_000, seed=3, **FAST
    )
    assert found.certificates == 5
    assert found.broken_certificates == ()
    assert not found.breaks_too_many
    for image in found.images:  # broken at .2, which is outside its radius and says nothing about inside
        assert [round(a.distance, 3) for a in image.attempts[:3]] == [0.0, 0.1, 0.2]
        assert image.attempts[3].distance == pytest.approx(0.999 * image.certified[1], rel=1e-3)
    near = attack_images(
        plane, points(5), radii=(0.1,), run=run, out=tmp_path / "b", n=20_000, seed=3, **FAST
    )
    for image in near.images:
        assert image.attempts[-1].distance == pytest.approx(0.999 * image.certified[1], rel=1e-3)
    grid = np.linspace(0, 0.3, 31)
    assert (found.certified_accuracy(grid) <= found.accuracy(grid)).all()


def test_certificates_that_lie_are_reported(plane, tmp_path):
    """Radii certified for a plane further away: the same attack breaks them all."""
    liar = sc.SmoothedClassifier(Plane(0.4).eval(), sc.Gaussian(SIGMA), 2)
    run = sc.certify(liar, points(8), procedure=sc.FixedSample(n=5_000), seed=2, workers=1)
    run.manifest["model"] = sc.certify(plane, points(1), procedure=sc.FixedSample(n=10), workers=1).manifest[
        "model"
    ]
    found = attack_images(plane, points(8), radii=(0.3,), run=run, out=tmp_path, seed=3, **FAST)
    assert len(found.broken_certificates) == 8
    assert found.breaks_too_many


def test_one_break_among_many_is_within_alpha():
    def image(index, inside):
        return AttackedImage(index, 1, (Attempt(0.0, 1), Attempt(0.1, 0 if inside else 1)), (1, 0.2))

    settings = {"alpha": 0.001, "certified_alpha": 0.001}
    few = AttackResults(settings, [image(index, index == 7) for index in range(500)])
    many = AttackResults(settings, [image(index, index < 20) for index in range(500)])
    assert (len(few.broken_certificates), few.breaks_too_many) == (1, False)
    assert (len(many.broken_certificates), many.breaks_too_many) == (20, True)


def test_what_counts_as_broken():
    """Another class than the label does, an abstention does not; a certificate is about its own class and radius."""
    attempts = (Attempt(0.0, 1), Attempt(0.1, None), Attempt(0.2, 0), Attempt(0.3, 2))
    right = AttackedImage(0, 1, attempts, (1, 0.15))
    assert right.broken_at == 0.2
    assert math.isinf(right.certificate_broken_at)
    assert AttackedImage(0, 1, attempts, (1, 0.2)).certificate_broken_at == 0.2
    wrong = AttackedImage(0, 0, attempts, (1, 0.5))
    assert (wrong.broken_at, wrong.certificate_broken_at) == (0.0, 0.2)
    assert math.isinf(AttackedImage(0, 1, (Attempt(0.0, None),)).broken_at)
    both = AttackResults({}, [right, wrong])
    assert both.accuracy([0, 0.1, 0.19, 0.2]).tolist() == [0.5, 0.5, 0.5, 0.0]
    assert AttackedImage.from_json(json.loads(json.dumps(wrong.to_json()))) == wrong


def test_abstention_breaks_nothing(plane, tmp_path, monkeypatch):
    monkeypatch.setattr(sc.SmoothedClassifier, "predict", lambda *_, **__: None)
    found = attack_images(plane, points(), radii=(1.0,), out=tmp_path, **FAST)
    assert found.accuracy([0, 1]).tolist() == [1, 1]


def test_noise_of_attack_and_answers_and_certificates_is_independent(plane, tmp_path, monkeypatch):
    """Every attack noise has a stream that no procedure votes from, every answer a seed of its own."""
    phases, seeds, predict = [], [], sc.SmoothedClassifier.predict

    def noted_generator(seed, index, phase):
        phases.append((seed, index, phase))
        return generator_for(seed, index, phase)

    def noted_predict(self, image, n, alpha, *, seed, index, **how):
        seeds.append((seed, index))
        return predict(self, image, n, alpha, seed=seed, index=index, **how)

    generator_for = attack_plan.generator_for
    monkeypatch.setattr(attack_plan, "generator_for", noted_generator)
    monkeypatch.setattr(sc.SmoothedClassifier, "predict", noted_predict)
    run = sc.certify(plane, points(), procedure=sc.FixedSample(n=500), seed=5, workers=1)
    attack_images(plane, points(), radii=(0.05, 0.1), run=run, seed=5, out=tmp_path, **FAST)
    assert len(set(phases)) == len(phases) > 6
    assert all(phase.startswith("attack-") for _, _, phase in phases)
    assert len(set(seeds)) == len(seeds) > 9
    assert 5 not in {seed for seed, _ in seeds}


@pytest.fixture(scope="module")
def digits_run(classifier, digits):
    return sc.certify(
        classifier, digits, procedure=sc.FixedSample(n=2_000), indices=range(0, 60, 4), seed=1, workers=1
    )


def test_digits_lie_between_certificate_and_attack(classifier, digits, digits_run, tmp_path):
    radii = (0.25, 0.5, 1.0)
    found = attack_images(classifier, digits, radii=radii, run=digits_run, seed=2, out=tmp_path, **FAST)
    grid = np.linspace(0, 1, 41)
    lower, upper = found.certified_accuracy(grid), found.accuracy(grid)
    assert (lower <= upper).all()
    np.testing.assert_array_equal(lower, digits_run.certified_accuracy(grid))
    assert found.broken_certificates == ()
    assert upper[-1] < upper[0]  # the attack does something
    for image in found.images:
        assert all(a.distance <= 1.0 + 1e-5 for a in image.attempts)


@pytest.mark.slow
def test_a_stopped_attack_continues_to_the_same_end(classifier, digits, digits_run, tmp_path, monkeypatch):
    def attack(out, **more):
        return attack_images(classifier, digits, radii=(0.25, 0.5), run=digits_run, out=out, **FAST, **more)

    whole = attack(tmp_path / "whole", seed=2)
    add, calls = attack_plan.AttackPlan._predict, []

    def interrupted(self, *what):
        calls.append(what)
        if len(calls) == 200:
            raise KeyboardInterrupt
        return add(self, *what)

    monkeypatch.setattr(attack_plan, "_TOGETHER", 16)  # one image at a time changes nothing
    with monkeypatch.context() as patch:
        patch.setattr(attack_plan.AttackPlan, "_predict", interrupted)
        calls += [()] * 180
        with pytest.raises(KeyboardInterrupt):
            attack(tmp_path / "stopped", seed=2)
    part = read_attack(tmp_path / "stopped")
    assert 0 < len(part) < len(whole)
    with (tmp_path / "stopped" / "attack.jsonl").open("a") as file:
        file.write('{"idx": 9')  # a line cut short by a crash
    with pytest.raises(StoreError, match="already holds an attack"):
        attack(tmp_path / "stopped", seed=2)
    with pytest.raises(ManifestMismatchError, match="seed was '2' and is now '3'"):
        attack(tmp_path / "stopped", seed=3, resume=True)
    again = attack(tmp_path / "stopped", resume=True)
    assert [i.index for i in again.images] == [i.index for i in whole.images]
    for one, other in zip(again.images, whole.images, strict=True):
        assert [a.predicted for a in one.attempts] == [a.predicted for a in other.attempts]
        assert [a.distance for a in one.attempts] == pytest.approx(
            [a.distance for a in other.attempts], abs=1e-4
        )


@pytest.mark.parametrize("kind", ["hard", "consensus"])
def test_ensembles_without_a_gradient_are_attacked_through_their_members(kind, tmp_path):
    members = [Plane().eval(), Plane().eval(), Plane().eval()]
    ensemble = sc.VotingEnsemble(members, rule="hard")
    model = ensemble if kind == "hard" else sc.ConsensusEnsemble(ensemble, k=2)
    smoothed = sc.SmoothedClassifier(model, sc.Gaussian(SIGMA), 2)
    found = attack_images(smoothed, points(1), radii=(2 * MARGIN,), out=tmp_path, seed=1, **FAST)
    assert found.broken_at[0] == pytest.approx(2 * MARGIN, rel=1e-3)


def test_a_float_safe_classifier_is_attacked_with_8_bit_images(tmp_path):
    """Rounded towards the clean image, so that the change does not grow."""
    smoothed = sc.SmoothedClassifier(Plane().eval(), sc.GridGaussian(SIGMA), 2)
    grey = np.full((1, DIMENSION), 128, dtype=np.uint8)
    dataset = sc.Dataset.from_arrays(grey, np.ones(1, dtype=np.int64))
    found = attack_images(smoothed, dataset, radii=(2 * MARGIN,), out=tmp_path, seed=1, **FAST)
    assert MARGIN < found.broken_at[0] <= 2 * MARGIN
    steps = found.broken_at[0] ** 2 * 255**2
    assert steps == pytest.approx(round(steps), abs=1e-2)


def test_refusals(plane, classifier, digits, digits_run, tmp_path):
    def refused(words, *what, **options):
        with pytest.raises(InvalidArgumentError, match=words):
            attack_images(*what, out=tmp_path / "x", **{"radii": (0.5,), **FAST, **options})
        assert not (tmp_path / "x").exists()

    refused("attack measures l2", sc.SmoothedClassifier(Plane().eval(), sc.Laplace(0.2), 2), points())
    refused("radii must be finite", plane, points(), radii=(-1.0,))
    refused("steps must be a positive integer", plane, points(), steps=0)
    refused("is about another model", plane, digits, run=digits_run)
    refused("is about another data set", classifier, points(), run=digits_run, indices=[0])
    refused("image 1 is not in the run", classifier, digits, run=digits_run, indices=[0, 1])
    other = sc.SmoothedClassifier(classifier.model, sc.Gaussian(0.5), 10)
    refused("is about another noise", other, digits, run=digits_run)
    with pytest.raises(
        LookupError,
        match="unknown attack method 'magic'; known: apgd-ce, apgd-t, autoattack, ddn, fab-t, pgd, square",
    ):
        attack_images(plane, points(), radii=(0.5,), out=tmp_path / "x", method="magic")


def test_random_starts_repeat_and_leave_global_states_alone(plane, tmp_path):
    options = {"radii": (0.3,), "method": "apgd-ce", "seed": 1, "m": 16, "workers": 1}
    before = np.random.get_state()[1].tolist()
    once = attack_images(plane, points(1), out=tmp_path / "a", **options)
    assert np.random.get_state()[1].tolist() == before
    assert attack_images(plane, points(1), out=tmp_path / "b", **options).images == once.images


def test_a_break_stands_in_the_column_of_the_radius_it_was_made_at(plane, tmp_path):
    """127/256 has more digits than a heading: it is attacked at the radius that the heading names."""
    far = 127 / 256
    found = attack_images(plane, points(), radii=far, seed=5, out=tmp_path, **FAST)
    assert found.settings["radii"] == [0.496093]
    figures = attack_to_json(found)
    assert figures["radii"] == [0.0, 0.496093]
    assert figures["accuracy_under_attack"] == [1.0, 0.0]


def test_too_few_votes_to_answer_are_refused_and_leave_nothing(plane, tmp_path):
    with pytest.raises(InvalidArgumentError, match="n=9 votes can never answer at alpha"):
        attack_images(plane, points(), radii=0.1, out=tmp_path / "a", **{**FAST, "n": 9})
    assert not (tmp_path / "a").exists()


def test_an_attack_is_resumed_by_the_same_engine_only(plane, tmp_path):
    attack_images(plane, points(), radii=0.1, seed=5, engine="torch", out=tmp_path, **FAST)
    with pytest.raises(ManifestMismatchError, match="engine was 'torch' and is now 'autocast'"):
        attack_images(
            plane, points(), radii=0.1, seed=5, engine="autocast", out=tmp_path, resume=True, **FAST
        )


def test_what_a_resumed_attack_leaves_open_stays_as_it_was(plane, tmp_path):
    whole = attack_images(plane, points(), radii=0.1, seed=5, engine="torch", out=tmp_path, **FAST)
    again = attack_images(plane, points(), radii=0.1, out=tmp_path, resume=True, **FAST)
    assert (again.settings["engine"], again.settings["seed"]) == ("torch", "5")
    assert again.images == whole.images


def test_without_a_folder_an_attack_is_kept_in_memory(plane, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    in_memory = attack_images(plane, points(), radii=(0.1, 1.0), seed=5, **FAST)
    assert not list(tmp_path.iterdir())
    stored = attack_images(plane, points(), radii=(0.1, 1.0), seed=5, out=tmp_path / "a", resume=True, **FAST)
    assert in_memory.settings == stored.settings
    assert list(in_memory.images) == list(stored.images)
    assert np.isfinite(in_memory.broken_at).all()
