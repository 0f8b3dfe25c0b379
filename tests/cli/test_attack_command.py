"""`smoothcert attack`: table, figures, page, and one sentence on a mistake."""

import json

import pytest


@pytest.fixture
def run(smoothcert, model_folder, tmp_path):
    options = ("--first", 8, "--n", 500, "--seed", 3, "--workers", 1, "--out", tmp_path / "run")
    assert smoothcert("certify", model_folder, *options)[0] == 0
    return tmp_path / "run"


FAST = ("--steps", 3, "--m", 8, "--n", 200, "--workers", 1)


def test_an_attack_beside_a_run(smoothcert, model_folder, run, tmp_path):
    out = tmp_path / "attack"
    code, text, _ = smoothcert(
        "attack", model_folder, "--run", run, "--radii", "0.25,0.5", "--out", out, *FAST
    )
    assert code == 0
    assert "certified, at least" in text
    assert "under attack, at most" in text
    assert "gap" in text
    assert "certified images broken inside their radius" in text
    assert {path.name for path in out.iterdir()} == {
        "attack.jsonl",
        "attack.json",
        "accuracy.png",
        "report.html",
    }
    page = (out / "report.html").read_text()
    assert "under attack, at most" in page
    assert "The truth lies between the two curves" in page
    figures = json.loads((out / "attack.json").read_text())
    assert figures["radii"] == [0, 0.25, 0.5]
    pairs = zip(figures["certified_accuracy"], figures["accuracy_under_attack"], strict=True)
    assert all(low <= high for low, high in pairs)
    again = smoothcert(
        "attack", model_folder, "--run", run, "--radii", "0.25,0.5", "--out", out, *FAST, "--resume", "--json"
    )
    assert json.loads(again[1]) == figures


def test_an_attack_alone(smoothcert, model_folder, tmp_path):
    out = tmp_path / "attack"
    code, text, _ = smoothcert("attack", model_folder, "--first", 3, "--json", "--out", out, *FAST)
    figures = json.loads(text)
    assert code == 0
    assert figures["radii"] == [0, 0.125, 0.25, 0.375, 0.5, 0.75]
    assert figures["certified_accuracy"] is None
    assert {path.name for path in out.iterdir()} == {"attack.jsonl", "attack.json", "accuracy.png"}
    code, text, _ = smoothcert("attack", model_folder, "--first", 3, "--out", out, *FAST, "--resume")
    assert "certified" not in text


def test_an_attack_takes_noise_and_engine_from_the_run(smoothcert, refused, model_folder, tmp_path):
    run, out = tmp_path / "sound", tmp_path / "attack"
    made = ("--first", 4, "--n", 300, "--sound", "--engine", "torch", "--out", run)
    assert smoothcert("certify", model_folder, *made)[0] == 0
    beside = ("attack", model_folder, "--run", run, "--first", 2, "--out", out, *FAST)
    for other, words in (
        (("--noise", "gaussian"), "(grid-gaussian, sigma 0.25) than what is attacked (gaussian, sigma 0.25)"),
        (("--engine", "autocast"), "engine must be 'torch', by which the run was made, got 'autocast'"),
    ):
        assert words in refused(smoothcert(*beside, *other))
        assert not out.exists()
    code, text, _ = smoothcert(*beside)
    assert code == 0
    assert "2 images" in text
    assert f"Curve: {out / 'accuracy.png'}" in text  # of some images of the run; no page about all of them
    assert not (out / "report.html").exists()
    assert json.loads((out / "attack.json").read_text())["settings"]["noise"]["name"] == "grid-gaussian"


@pytest.mark.parametrize(
    "options, words",
    [
        (("--radii", "a"), "--radii must be numbers"),
        (("--method", "magic"), "unknown attack method 'magic'"),
        (("--run", "nowhere"), "is not a run folder"),
        (("--steps", 0), "steps must be a positive integer"),
        (("--noise", "laplace"), "the attack measures l2 distance, but the noise is about l1"),
        (("--n", 0), "n must be"),
        (("--n", 5), "n=5 votes can never answer at alpha=0.001"),
        (("--alpha", 2), "alpha is an error probability"),
        (("--workers", 0), "workers must"),
        (("--engine", "foo"), "unknown engine 'foo'"),
        (("--radii", "-1"), "radii must be finite numbers >= 0"),
    ],
)
def test_mistakes_are_one_sentence(options, words, smoothcert, refused, model_folder, tmp_path):
    out = tmp_path / "attack"
    assert words in refused(smoothcert("attack", model_folder, "--first", 2, "--out", out, *options))
    assert not out.exists()


def test_only_radii_that_the_run_asked_are_attacked_and_none_reads_zero(smoothcert, model_folder, tmp_path):
    """Twelve radii, more than a table has room for, and one radius: the clean column was not asked about."""
    many = [round(0.05 * k, 2) for k in range(1, 13)]
    for name, asked in (("many", many), ("one", [0.3])):
        run, out = tmp_path / name, tmp_path / f"attack-{name}"
        how = ("--procedure", "sequential", "--radii", ",".join(map(str, asked)), "--n", 500)
        if name == "one":
            how = ("--procedure", "group", "--radius", 0.3, "--n", 500)
        assert smoothcert("certify", model_folder, "--first", 4, *how, "--workers", 1, "--out", run)[0] == 0
        code, text, _ = smoothcert("attack", model_folder, "--run", run, "--out", out, *FAST)
        assert code == 0
        figures = json.loads((out / "attack.json").read_text())
        assert figures["settings"]["radii"] == asked
        assert figures["settings"]["certified_radii"] == asked
        # What holds at the smallest radius that was asked holds for the clean image, which was not.
        first, second = figures["certified_accuracy"][:2]
        assert first == (second or None)
        assert ("≥  not asked about: at least what is proven" if second else "–  not asked about.") in text
        assert ("≥" if second else "–") in (out / "report.html").read_text()


def test_a_radius_beyond_those_asked_has_a_dash(smoothcert, model_folder, tmp_path):
    run, out = tmp_path / "run", tmp_path / "attack"
    how = ("--procedure", "group", "--radius", 0.3, "--n", 500, "--workers", 1, "--first", 4, "--out", run)
    assert smoothcert("certify", model_folder, *how)[0] == 0
    options = ("--run", run, "--radii", "0.3,1", "--out", out)
    code, text, _ = smoothcert("attack", model_folder, *options, *FAST)
    assert code == 0
    row = next(line for line in text.splitlines() if "certified, at least" in line)
    assert row.count("–") == 2
    figures = json.loads((out / "attack.json").read_text())
    assert [value is None for value in figures["certified_accuracy"]] == [True, False, True]


def test_autoattack_tells_its_cost_and_keeps_its_budget(smoothcert, refused, model_folder, tmp_path):
    out = tmp_path / "attack"
    auto = (
        "attack",
        model_folder,
        "--method",
        "autoattack",
        "--out",
        out,
        "--first",
        1,
        "--m",
        2,
        "--n",
        200,
    )
    words = refused(smoothcert(*auto, "--steps", 3))
    assert "steps must be left out with method autoattack, whose budget is the published one" in words
    assert not out.exists()
    code, text, told = smoothcert(*auto, "--radii", 3, "--workers", 1)
    assert code == 0
    assert "at most 9,721 forward passes x 2 noises" in told
    assert "autoattack (apgd-ce: 100 steps; apgd-t: 100 steps x 9 targets; fab-t:" in " ".join(text.split())
