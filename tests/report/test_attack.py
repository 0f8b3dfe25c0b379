"""The upper curve, the gap and the certificates that broke, in figure, table and page."""

import numpy as np
import pytest

import smoothcert as sc
from smoothcert.certificates import Results
from smoothcert.errors import InvalidArgumentError
from smoothcert.report import Summary, attack_to_json, certified_accuracy_figure
from smoothcert.report.tables.attack_table import attack_lines, attack_rows
from smoothcert.store import AttackedImage, AttackResults, Attempt

SETTINGS = {
    "radii": [0.25, 0.5],
    "method": "pgd",
    "steps": 20,
    "parts": ["pgd: 20 steps"],
    "m": 128,
    "n": 1_000,
    "alpha": 0.001,
    "certified_alpha": 0.001,
    "certified_radii": None,
    "certified_largest": 1.0,
}


def three():
    """Certified to .3 and unbroken; certified to .1 and broken at .25; wrong from the start."""
    return AttackResults(
        SETTINGS,
        [
            AttackedImage(0, 1, (Attempt(0.0, 1), Attempt(0.25, 1), Attempt(0.5, None)), (1, 0.3)),
            AttackedImage(1, 1, (Attempt(0.0, 1), Attempt(0.25, 2)), (1, 0.1)),
            AttackedImage(2, 1, (Attempt(0.0, 0),), None),
        ],
    )


def summary(indices=(0, 1, 2)):
    columns = (np.array(indices), np.ones(3, dtype=int), np.array([1, 1, -1]), np.array([0.3, 0.1, 0.0]))
    return Summary("run", Results(*columns), seconds=1.0)


def test_bounds_are_rounded_away_from_each_other():
    rows = attack_rows(three())
    assert rows["certified, at least"] == ["66.6", "33.3", "0.0"]
    assert rows["under attack, at most"] == ["66.7", "33.4", "33.4"]
    assert rows["gap, at most"] == ["0.0", "0.0", "33.4"]
    figures = attack_to_json(three())
    assert figures["accuracy_under_attack"] == [2 / 3, 1 / 3, 1 / 3]
    assert figures["gap"] == pytest.approx([0, 0, 1 / 3])


def test_a_radius_that_the_run_did_not_ask_or_cannot_prove_has_a_mark_instead_of_zero():
    """What is proven at a larger radius holds at a smaller one, so its share is a lower bound there."""
    asked = AttackResults({**SETTINGS, "certified_radii": [0.25]}, three().images)
    rows = attack_rows(asked)
    assert rows["certified, at least"] == ["≥66.6", "33.3", "–"]
    assert rows["under attack, at most"] == ["66.7", "33.4", "33.4"]
    assert rows["gap, at most"] == ["0.0", "0.0", "–"]
    assert attack_to_json(asked)["certified_accuracy"] == [2 / 3, 1 / 3, None]
    assert attack_to_json(asked)["gap"] == [pytest.approx(0), pytest.approx(0), None]
    assert "–  not asked about." in attack_lines(asked)
    short = AttackResults({**SETTINGS, "certified_largest": 0.4}, three().images)
    assert attack_rows(short)["certified, at least"] == ["66.6", "33.3", "n/p"]
    assert any(line.startswith("n/p  not provable") for line in attack_lines(short))
    assert not any(line.startswith(("–", "n/p")) for line in attack_lines(three()))


def test_lines_name_every_part_of_the_attack():
    parts = ["apgd-ce: 100 steps", "square: 5,000 queries"]
    whole = AttackResults({**SETTINGS, "method": "autoattack", "parts": parts}, three().images)
    assert "; autoattack (apgd-ce: 100 steps; square: 5,000 queries), in l2" in attack_lines(whole)[0]
    assert (
        "3 images; pgd: 20 steps, in l2 through the mean softmax over 128 noises" in attack_lines(three())[0]
    )


def test_lines_name_the_broken():
    assert "0 of 2 certified images broken inside their radius" in attack_lines(three())[1]
    lying = AttackResults(SETTINGS, [AttackedImage(7, 1, (Attempt(0.0, 1), Attempt(0.2, 0)), (1, 0.3))] * 9)
    assert attack_lines(lying)[1].startswith("WARNING: 9 of 9 certified images broken inside their radius")
    assert attack_to_json(lying)["broken_certificates"][0] == {"idx": 7, "radius": 0.3, "distance": 0.2}


def test_the_curve_above_is_what_was_left_standing():
    figure = certified_accuracy_figure([summary()], attack=three())
    (axes,) = figure.axes
    curve = next(line for line in axes.lines if str(line.get_label()).startswith("under pgd"))
    assert (curve.get_marker(), axes.get_ylabel()) == ("v", "accuracy (%)")
    curve = next(line for line in axes.lines if line.get_drawstyle() == "steps-post")
    np.testing.assert_allclose(curve.get_xdata(), [0, 0.25, 0.5])
    np.testing.assert_allclose(curve.get_ydata(), [200 / 3, 100 / 3, 100 / 3])
    assert axes.get_xlim()[1] > 0.5
    gap = axes.collections[-1].get_paths()[0].vertices
    assert {round(float(y), 3) for y in gap[:, 1]} == {0.0, 33.333, 66.667}


def test_other_images_are_refused():
    with pytest.raises(InvalidArgumentError, match="about other images than run"):
        certified_accuracy_figure([summary((0, 1, 3))], attack=three())


def test_the_package_offers_it():
    assert sc.attack_images.__name__ == "attack_images"
