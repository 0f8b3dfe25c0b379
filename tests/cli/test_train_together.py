"""`smoothcert train` for members that are fine-tuned together and for denoisers."""

import json

import pytest

SHORT = ("--epochs", "1", "--max-train-images", "64", "--seed", "3")
VOTES = ("--first", "1", "--n", "200", "--seed", "1", "--workers", "1", "--engine", "torch")


@pytest.fixture
def clean(smoothcert, tmp_path):
    assert smoothcert("train", "digits-standard", *SHORT, "--out", tmp_path / "clean")[0] == 0
    return tmp_path / "clean"


def test_members_are_fine_tuned_and_certified(smoothcert, refused, tmp_path):
    two, out = tmp_path / "two", tmp_path / "drt"
    assert smoothcert("train", "digits-gaussian", *SHORT, "--members", "2", "--out", two)[0] == 0
    command = ("train", "digits-drt", *SHORT, "--set", "rho1=0.2", "--from", two / "ensemble", "--out", out)
    code, said, _ = smoothcert(*command)
    assert code == 0
    assert f"{out / 'ensemble'}: soft vote of 2 members" in said
    card = json.loads((out / "member-1" / "model.json").read_text())
    assert card["method"] == "drt"
    assert card["training"]["settings"]["rho1"] == 0.2
    assert "is trained already" in smoothcert(*command)[2]
    certify = ("certify", out / "ensemble", "--dataset", "digits", *VOTES, "--out", tmp_path / "run")
    assert smoothcert(*certify)[0] == 0
    both = ("--from", two / "ensemble", "--members", "2")
    assert "give one" in refused(smoothcert("train", "digits-drt", *both, "--out", tmp_path / "no"))
    other = ("--sigma", "0.5", "--from", two / "member-0", "--from", two / "member-1")
    assert "the members have noise" in refused(
        smoothcert("train", "digits-drt", *other, "--out", tmp_path / "no")
    )


def test_denoisers_are_trained_and_certified(smoothcert, tmp_path, clean):
    small = ("--set", "depth=3", "--set", "width=4", "--classifier", clean)
    out = tmp_path / "denoised"
    command = ("train", "digits-denoiser-stability", *SHORT, *small, "--members", "2", "--out", out)
    code, said, _ = smoothcert(*command)
    assert code == 0
    assert "dncnn-small, method denoiser-stability, gaussian noise (sigma 0.25)" in said
    for folder in ("member-0", "ensemble"):
        run = ("--out", tmp_path / f"run-{folder}")
        assert smoothcert("certify", out / folder, "--dataset", "digits", *VOTES, *run)[0] == 0


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["digits-denoiser-mse"], "say which one: classifier=FOLDER"),
        (["digits-drt"], "use smoothcert.fine_tune (--from"),
        (["digits-gaussian", "--from", "nowhere"], "nowhere is not a model folder"),
        (
            ["digits-gaussian", "--from", "a", "--from", "b"],
            "method 'gaussian' trains one network from one start",
        ),
        (["digits-drt", "--from", "nowhere"], "nowhere is not a model folder"),
        (["digits-gaussian", "--classifier", "nowhere"], "classifier is for methods that train a denoiser"),
        (["digits-denoiser-mse", "--classifier", "nowhere"], "nowhere is not a model folder"),
        (["digits-denoiser-mse", "--set", "depth=1"], "'depth' is wrong"),
        (["digits-denoiser-mse", "--model", "convnet"], "choose one of dncnn, dncnn-small, dncnn-wide"),
        (["digits-gaussian", "--set", "digests=x"], "--set knows no 'digests'"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, smoothcert, refused, tmp_path):
    assert sentence in refused(smoothcert("train", *arguments, "--out", tmp_path / "m"))
    assert not (tmp_path / "m").exists()


def test_denoisers_are_listed_with_their_size(smoothcert):
    code, out, _ = smoothcert("recipes", "cifar10-denoiser-mse", "--json")
    assert code == 0
    assert json.loads(out)[0]["parameters"] == 2_222_720


def test_a_network_is_trained_on_for_int8(smoothcert, tmp_path):
    first, tuned = tmp_path / "first", tmp_path / "tuned"
    assert smoothcert("train", "digits-gaussian", *SHORT, "--out", first)[0] == 0
    rounded = ("--sigma", "0.5", "--from", first, "--set", "rounding=int8", "--set", "lr=0.01")
    code, _, told = smoothcert("train", "digits-gaussian", *SHORT, *rounded, "--out", tuned)
    assert code == 0
    assert f"{first} was trained for noise" in told
    training = json.loads((tuned / "model.json").read_text())["training"]
    assert (training["rounding"], training["start"]) == ("int8", str(first))
    few = ("--images", "32", "--draws", "1", "--seed", "0")
    told = smoothcert("quantize", tuned, *few, "--seven-bits", "--out", tmp_path / "seven")[2]
    assert "was trained with rounding=int8, but its weights are rounded as by rounding=seven-bits" in told
    assert (
        "rounding" not in smoothcert("quantize", tuned, *few, "--eight-bits", "--out", tmp_path / "eight")[2]
    )
