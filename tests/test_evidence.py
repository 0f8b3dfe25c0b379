"""Evidence is made by `make evidence`; here only: it is there, complete and well formed."""

import ast
import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "evidence"
FIELDS = {"name", "about", "command", "seed", "interval", "versions", "figures"}


def pieces():
    tree = ast.parse((FOLDER / "make.py").read_text())
    names = next(
        node.value
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PIECES"
    )
    return ast.literal_eval(names)


@pytest.mark.parametrize("name", pieces())
def test_every_piece_is_there_and_says_how_it_was_made(name):
    record = json.loads((FOLDER / f"{name}.json").read_text())
    assert set(record) == FIELDS
    assert record["name"] == name
    assert name in record["command"]
    assert {"python", "smoothcert", "torch", "numpy"} <= set(record["versions"])
    assert record["figures"]


def test_guarantee_figures_keep_their_promise():
    figures = json.loads((FOLDER / "guarantee.json").read_text())["figures"]
    assert all(cell["errors"] <= figures["allowed_errors"] for cell in figures["sound"])
    assert all(cell["reached_80_percent_of_the_radius"] >= 0.9 * 2_000 for cell in figures["sound"])
    assert all(twin["errors"] > figures["allowed_errors"] for twin in figures["unsound"])


def test_exact_false_certificates_are_at_most_alpha():
    figures = json.loads((FOLDER / "expected_votes.json").read_text())["figures"]
    for row in figures["false_certificates_at_p0"]:
        assert all(value <= 0.001 for name, value in row.items() if name != "p0")


def test_every_method_on_digits_beats_training_without_noise():
    figures = json.loads((FOLDER / "digits_methods.json").read_text())["figures"]
    at = {method: found["certified_accuracy_mean"]["0.5"] for method, found in figures["0.5"].items()}
    for method, accuracy in at.items():
        assert method == "standard" or accuracy >= at["standard"] + 0.15, method
    for sigma in ("0.25", "0.5"):
        assert figures[sigma]["consistency"]["acr_mean"] > figures[sigma]["gaussian"]["acr_mean"]


def test_methods_on_mnist_that_beat_gaussian_as_published():
    figures = json.loads((FOLDER / "mnist_methods.json").read_text())["figures"]
    for method in ("consistency", "smoothadv"):
        assert figures[method]["acr"] > figures["gaussian"]["acr"]


@pytest.mark.parametrize("dataset", ["digits", "fashion-mnist"])
def test_ensembles_beat_their_best_member_and_consensus_keeps_most_of_it(dataset):
    figures = json.loads((FOLDER / "ensembles.json").read_text())["figures"][dataset]
    assert len(figures["draws"]) == 3
    for draw in figures["draws"]:
        assert draw["soft"]["over_best_member"] > 0
        consensus = draw["consensus-2"]
        assert consensus["gain_kept"] >= 0.7
        assert consensus["acr_of_ensemble"] >= 0.98
        assert consensus["evaluations_per_vote"] < 0.6 * 5
        for name in ("sween", "esbrs"):
            assert sum(draw[name]["weights"]) == pytest.approx(1)
        found = draw["sween"]["hold_out"]
        assert found["loss"] <= min(found["uniform_loss"], found["best_member_loss"])


def test_denoisers_make_a_classifier_smoothable_and_are_better_together():
    figures = json.loads((FOLDER / "denoisers.json").read_text())["figures"]
    assert figures["smallest_rise_at_0.25"] >= 0.2
    assert all(figures["ensemble_at_least_better_denoiser"])


def test_attacks_stay_above_certificates():
    figures = json.loads((FOLDER / "attacks.json").read_text())["figures"]
    assert [len(figures[name]) for name in ("digits", "mnist")] == [3, 3]
    for found in (found for name in figures for found in figures[name].values()):
        assert found["images"] == 200
        pairs = zip(found["certified_accuracy"], found["accuracy_under_attack"], strict=True)
        assert all(low <= high for low, high in pairs)
        assert not found["breaks_more_than_alpha_allows"]


def test_an_ensemble_of_three_is_worth_it_in_every_norm():
    figures = json.loads((FOLDER / "norms.json").read_text())["figures"]
    for norm in ("l0", "l1"):
        ours = figures[norm]["ours"]
        assert ours["ensemble"]["acr"] > max(ours[f"member-{n}"]["acr"] for n in range(3))


def test_heads_cost_less_than_networks_and_certify_more_on_digits():
    kinds = json.loads((FOLDER / "some.json").read_text())["figures"]["kinds"]
    assert kinds["some"]["forward_flops"] < 0.6 * kinds["five separate"]["forward_flops"]
    digits = json.loads((FOLDER / "some_digits.json").read_text())["figures"]["kinds"]
    assert digits["single"]["acr_mean"] < digits["plain heads"]["acr_mean"]
    assert digits["single"]["acr_mean"] < digits["some"]["acr_mean"]


@pytest.mark.parametrize("kind", ["like members", "unlike members"])
def test_esbrs_weighs_images_alike_because_the_floor_does_harm(kind):
    """Pairs at the floor make up most of the objective, and follow the members that are worst.

    Among like members the gain is as small as its spread over draws, so only its sign in every draw is told.
    """
    figures = json.loads((FOLDER / "esbrs_weighing.json").read_text())["figures"][kind]
    assert all(draw["share_of_floor"] > 0.5 for draw in figures["draws"])
    assert kind == "like members" or figures["alike_minus_floor"][0] > 0.03
    for draw in figures["draws"]:
        assert draw["acr"]["alike"] > draw["acr"]["floor"]


def test_a_hundred_thousand_images_take_little_memory():
    figures = json.loads((FOLDER / "many_images.json").read_text())["figures"]
    assert figures["images"] == 100_000
    assert {"shards", "merge", "resume", "analyze"} <= set(figures["steps"])
    assert all(step["peak_mb"] < figures["most_megabytes"] == 500 for step in figures["steps"].values())
