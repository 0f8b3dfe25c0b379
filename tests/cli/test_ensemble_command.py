"""`ensemble` and `train --members` on the command line."""

import json

import pytest

import smoothcert as sc
from small_networks import save_network
from smoothcert.ensembles import (
    AdaptiveEnsemble,
    ConsensusEnsemble,
    Perturbation,
    fit_esbrs,
    fit_sween,
    member_outputs,
    order_by_noisy_accuracy,
    refuse_overlap,
)
from smoothcert.errors import InvalidArgumentError, SmoothcertError
from smoothcert.folders import load_model, make_ensemble
from smoothcert.seeding import generator_for

SHORT = ("--epochs", "1", "--max-train-images", "64")
CHOSEN = ("--dataset", "digits", "--images", "60", "--draws", "2", "--seed", "5")


@pytest.fixture
def members(tmp_path):
    return [save_network(tmp_path / f"member-{seed}", seed) for seed in range(3)]


def outputs(folders):
    models = [load_model(folder)[0] for folder in folders]
    holdout = sc.load_dataset("digits", "holdout")
    generator = generator_for(5, 0, "holdout")
    return member_outputs(models, holdout, sc.Gaussian(0.25), draws=2, generator=generator, images=60)


@pytest.mark.parametrize("rule", ["soft", "softmax", "hard", "max-margin"])
def test_every_rule_makes_a_folder_that_certifies(rule, members, smoothcert, tmp_path):
    code, out, err = smoothcert("ensemble", *members, "--rule", rule, "--out", tmp_path / "e")
    assert code == 0, err
    assert f"3 members, rule {rule}" in out
    image = sc.load_dataset("digits").image(0)
    found = sc.load_classifier(tmp_path / "e").certify(image, sc.FixedSample(n=100), seed=1, workers=1)
    assert (found.samples, found.evaluations) == (200, 600)


def test_members_are_certified_beside_their_ensemble(members, smoothcert, refused, tmp_path):
    assert smoothcert("ensemble", *members, "--consensus", 2, "--out", tmp_path / "e")[0] == 0
    few = ("--first", 2, "--n", 200, "--seed", 1, "--workers", 1)
    code, out, err = smoothcert("certify", tmp_path / "e", *few, "--with-members", "--out", tmp_path / "runs")
    assert code == 0, err
    table = " ".join(out.split())
    assert f"envelope of {len(members)}" in table
    assert "(KCR)" in table
    names = [*(f"member-{number}" for number in range(len(members))), "ensemble"]
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == sorted(names)
    # Each is the run that its classifier alone would have had, and can be audited by itself.
    for name, folder in zip(names, [*members, tmp_path / "e"], strict=True):
        alone = tmp_path / f"alone-{name}"
        assert smoothcert("certify", folder, *few, "--out", alone)[0] == 0
        assert sc.Run.open(tmp_path / "runs" / name).final_counts == sc.Run.open(alone).final_counts
        assert smoothcert("audit", tmp_path / "runs" / name)[0] == 0
    assert "has no members of its own" in refused(
        smoothcert("certify", members[0], *few, "--with-members", "--out", tmp_path / "none")
    )


def test_weights_and_consensus_are_kept(members, smoothcert, tmp_path):
    options = ("--rule", "hard", "--weights", "1,2,1", "--consensus", "2")
    code, out, err = smoothcert("ensemble", *members, *options, "--out", tmp_path / "e")
    assert code == 0, err
    assert "weights 0.250 0.500 0.250" in out
    model, card = load_model(tmp_path / "e")
    assert isinstance(model, ConsensusEnsemble)
    assert (model.k, card.weights, card.fitted) == (2, (1, 2, 1), ())
    again = smoothcert("ensemble", *members, *options, "--out", tmp_path / "e")
    assert again[0] == 0  # nothing changed


def test_sween_weights_are_the_fit_of_the_holdout_and_recorded(members, smoothcert, tmp_path):
    command = ("ensemble", *members, "--fit", "sween", "--adaptive", *CHOSEN, "--out", tmp_path / "e")
    code, out, err = smoothcert(*command)
    assert code == 0, err
    assert "weights (sween) chosen on 60 images of digits (holdout), seed 5" in out
    model, card = load_model(tmp_path / "e")
    assert isinstance(model, AdaptiveEnsemble)
    expected = fit_sween(*outputs(members))
    assert card.weights == pytest.approx(expected.weights)
    (use,) = card.fitted
    assert (use.purpose, use.dataset, use.split, use.images) == ("sween", "digits", "holdout", 60)
    assert (use.draws, use.seed, use.found["loss"]) == (2, 5, pytest.approx(expected.loss))
    holdout = sc.load_dataset("digits", "holdout")
    assert use.digest == holdout.digest
    refuse_overlap(card, sc.load_dataset("digits"), range(100))
    with pytest.raises(InvalidArgumentError, match="was among the 60 images"):
        refuse_overlap(card, holdout, [59, 70])
    assert smoothcert(*command)[0] == 0  # the same seed makes the same folder


def test_the_papers_descent_can_be_asked_for(members, smoothcert, tmp_path):
    assert smoothcert("ensemble", *members, "--fit", "sween-sgd", *CHOSEN, "--out", tmp_path / "e")[0] == 0
    card = load_model(tmp_path / "e")[1]
    assert card.weights == pytest.approx(fit_sween(*outputs(members), solver="sgd", draws=2).weights)
    assert card.fitted[0].purpose == "sween-sgd"


def test_esbrs_weights_are_the_fit_of_the_holdout(members, smoothcert, tmp_path):
    options = ("--dataset", "digits", "--images", "4", "--draws", "2", "--seed", "5")
    code, _, err = smoothcert("ensemble", *members, "--fit", "esbrs", *options, "--out", tmp_path / "e")
    assert code == 0, err
    _, card = load_model(tmp_path / "e")
    assert (card.rule, card.fitted[0].purpose, card.fitted[0].draws) == ("softmax", "esbrs", 2)
    assert sum(card.weights) == pytest.approx(1)
    models = [load_model(folder)[0] for folder in members]
    holdout = sc.load_dataset("digits", "holdout")
    expected = fit_esbrs(models, holdout, sc.Gaussian(0.25), seed=5, images=4, how=Perturbation(copies=2))
    assert card.weights == pytest.approx(expected.weights)


def test_members_are_put_in_the_order_of_the_holdout_with_their_weights(members, smoothcert, tmp_path):
    options = ("--order-by-holdout", *CHOSEN, "--weights", "1,2,3")
    code, _, err = smoothcert("ensemble", *members, *options, "--out", tmp_path / "e")
    assert code == 0, err
    order = order_by_noisy_accuracy(*outputs(members))
    card = load_model(tmp_path / "e")[1]
    assert [entry.path for entry in card.members] == [f"../member-{place}" for place in order]
    assert card.weights == tuple(place + 1 for place in order)
    accuracies = [card.fitted[0].found[f"accuracy-{place}"] for place in range(3)]
    assert accuracies == sorted(accuracies, reverse=True)


def test_a_seed_of_128_bits_is_drawn_and_recorded(members, smoothcert, tmp_path):
    options = ("--order-by-holdout", "--dataset", "digits", "--images", "20", "--draws", "1")
    command = ("ensemble", *members, *options, "--out", tmp_path / "e")
    assert smoothcert(*command)[0] == 0
    assert load_model(tmp_path / "e")[1].fitted[0].seed > 2**64
    assert "already holds an ensemble" in smoothcert(*command)[2]  # before the members are asked again


@pytest.mark.parametrize(
    "options, sentence",
    [
        (["--rule", "loud"], "unknown voting rule 'loud'; known: hard, max-margin, soft, softmax"),
        (["--weights", "1,2"], "got 2 for 3 members"),
        (["--weights", "1,x,2"], "--weights must be numbers separated by commas"),
        (["--rule", "hard", "--weights", "1,-1,1"], "weights must be finite, >= 0"),
        (["--weights", "0,0,0"], "not all 0"),
        (["--weights", "1,2,3", "--rule", "max-margin"], "takes no weights"),
        (["--consensus", "4"], "from 1 to the 3 members"),
        (["--consensus", "2", "--rule", "softmax", "--adaptive"], "choose one of them"),
        (["--adaptive", "--rule", "soft"], "of rule 'softmax', got 'soft'"),
        (["--fit", "sween"], "need hold-out images: add --dataset"),
        (["--order-by-holdout"], "need hold-out images: add --dataset"),
        (["--dataset", "digits"], "add --fit sween"),
        (
            ["--fit", "best", *CHOSEN],
            "unknown way to fit weights 'best'; known: esbrs, soft, sween, sween-sgd",
        ),
        (["--fit", "sween", "--weights", "1,1,1", *CHOSEN], "chooses the weights; leave weights out"),
        (["--fit", "sween", "--rule", "hard", *CHOSEN], "for rule 'softmax', got rule 'hard'"),
        (["--fit", "sween", *CHOSEN, "--draws", "0"], "draws must be a positive integer, got 0"),
        (["--fit", "sween", *CHOSEN, "--images", "0"], "images must be a positive integer, got 0"),
        (["--order-by-holdout", "--weights", "1", *CHOSEN], "got 1 for 3 members"),
        (["--fit", "sween", *CHOSEN, "--seed", "x"], "--seed must be an integer"),
        (["--fit", "sween", "--dataset", "nonesuch"], "unknown dataset 'nonesuch'"),
        (["--fit", "sween", "--dataset", "mnist", "--data-dir", "nowhere"], "nowhere"),
    ],
)
def test_mistakes_are_one_sentence(options, sentence, members, smoothcert, refused, tmp_path):
    assert sentence in refused(smoothcert("ensemble", *members, *options, "--out", tmp_path / "e"))
    assert not (tmp_path / "e").exists()


def test_members_that_do_not_fit_are_refused(members, smoothcert, refused, tmp_path):
    other = save_network(tmp_path / "other", 9, class_names=tuple("012"))
    out = tmp_path / "e"
    assert "agree on num_classes" in refused(smoothcert("ensemble", members[0], other, "--out", out))
    chosen = refused(smoothcert("ensemble", members[0], other, "--fit", "sween", *CHOSEN, "--out", out))
    assert "agree on num_classes" in chosen
    alone = refused(smoothcert("ensemble", other, "--fit", "sween", *CHOSEN, "--out", out))
    assert "3 classes of images (1, 8, 8) apart, but digits has 10" in alone
    assert "not a model folder" in refused(smoothcert("ensemble", tmp_path / "none", "--out", out))
    assert "already holds another model" in refused(smoothcert("ensemble", *members, "--out", members[1]))
    path = members[2] / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "digest": "0"}))
    assert "member-2" in refused(smoothcert("ensemble", *members, "--out", out))
    assert not out.exists()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"early_exit": sc.Consensus(4)}, "from 1 to the 3 members"),
        ({"order_by_holdout": True, "rule": "loud"}, "unknown voting"),
    ],
)
def test_what_cannot_vote_is_refused_before_anybody_is_asked(options, message, members, tmp_path):
    asked = []
    given = {"fit": "sween", **options} if "rule" not in options else options
    with pytest.raises(SmoothcertError, match=message):
        make_ensemble(
            members,
            tmp_path / "e",
            dataset=sc.load_dataset("digits", "holdout"),
            on_progress=lambda *done: asked.append(done),
            **given,
        )
    assert asked == []


def test_the_test_split_never_chooses(members, tmp_path):
    with pytest.raises(InvalidArgumentError, match="dataset is a test split"):
        make_ensemble(members, tmp_path / "e", fit="sween", dataset=sc.load_dataset("digits", "test"))


def test_train_makes_members_and_their_ensemble(smoothcert, refused, tmp_path):
    command = ("train", "digits-gaussian", *SHORT, "--members", "2", "--out", tmp_path / "m")
    code, out, err = smoothcert(*command)
    assert code == 0, err
    assert "soft vote of 2 members" in out
    seeds = [load_model(tmp_path / "m" / f"member-{number}")[1].training["seed"] for number in range(2)]
    assert seeds == [0, 1]
    model, card = load_model(tmp_path / "m" / "ensemble")
    assert (card.rule, model.evaluations_per_vote) == ("soft", 2)
    again = smoothcert(*command)
    assert again[0] == 0
    assert "epoch 1: loss" not in again[2]  # done already
    assert "of another size" in smoothcert(*command[:-4], "--members", "3", *command[-2:])[2]
    assert not (tmp_path / "m" / "member-2").exists()


def test_train_continues_with_the_members_that_are_missing(smoothcert, tmp_path):
    one = ("train", "digits-gaussian", *SHORT, "--seed", "7", "--out", tmp_path / "m" / "member-0")
    assert smoothcert(*one)[0] == 0
    command = ("train", "digits-gaussian", *SHORT, "--seed", "7", "--members", "2", "--out", tmp_path / "m")
    code, _, err = smoothcert(*command)
    assert code == 0, err
    assert err.count("epoch 1: loss") == 1
    assert load_model(tmp_path / "m" / "member-1")[1].training["seed"] == 8


@pytest.mark.parametrize("count", ["1", "0", "-2"])
def test_fewer_than_two_members_are_refused(count, smoothcert, refused, tmp_path):
    sentence = refused(smoothcert("train", "digits-gaussian", "--members", count, "--out", tmp_path / "m"))
    assert f"--members must be at least 2, got {count}" in sentence
    assert not (tmp_path / "m").exists()


def test_the_test_of_adaptive_prediction_is_chosen_kept_and_told(members, smoothcert, refused, tmp_path):
    options = ("--adaptive", "--adaptive-threshold", "0.9", "--adaptive-alpha", "0.2")
    code, out, err = smoothcert("ensemble", *members, *options, "--out", tmp_path / "e")
    assert code == 0, err
    assert "asked by weight until clear (threshold 0.9, alpha 0.2)" in out
    model, card = load_model(tmp_path / "e")
    assert (model.threshold, model.alpha) == (card.early_exit.threshold, card.early_exit.alpha) == (0.9, 0.2)
    few = ("--first", 1, "--n", 100, "--seed", 1, "--workers", 1)
    assert smoothcert("certify", tmp_path / "e", *few, "--out", tmp_path / "run")[0] == 0
    run = sc.Run.open(tmp_path / "run")
    assert run.manifest["ensemble"]["early_exit"] == {"kind": "adaptive", "threshold": 0.9, "alpha": 0.2}
    assert smoothcert("audit", tmp_path / "run")[0] == 0
    sc.write_report({"run": run}, tmp_path / "page.html", title="x")
    assert "adaptive threshold 0.9 alpha 0.2" in (tmp_path / "page.html").read_text()
    # Another test is another classifier, the paper's by default.
    assert smoothcert("ensemble", *members, "--adaptive", "--out", tmp_path / "usual")[0] == 0
    usual = load_model(tmp_path / "usual")[1]
    assert (usual.early_exit.threshold, usual.early_exit.alpha) == (0.999, 0.05)
    assert usual.digest != card.digest
    for wrong, sentence in (
        (("--adaptive-alpha", "0.2"), "--adaptive-alpha is for adaptive prediction: add --adaptive"),
        (
            ("--adaptive", "--adaptive-threshold", "1"),
            "--adaptive-threshold must lie strictly between 0 and 1",
        ),
        (("--adaptive", "--adaptive-alpha", "nan"), "--adaptive-alpha must lie strictly between 0 and 1"),
    ):
        assert sentence in refused(smoothcert("ensemble", *members, *wrong, "--out", tmp_path / "none"))
        assert not (tmp_path / "none").exists()


def test_prefixes_are_certified_one_by_one_and_compared(members, smoothcert, refused, tmp_path):
    code, out, err = smoothcert("ensemble", *members, "--prefixes", "--out", tmp_path / "sizes")
    assert code == 0, err
    told = out.splitlines()
    assert [line.split(": ")[1] for line in told] == [
        f"{who}, rule soft" for who in ("1 member", "2 members", "3 members")
    ]
    few = ("--first", 2, "--n", 100, "--seed", 1, "--workers", 1)
    runs = [tmp_path / "runs" / f"k-{k}" for k in (1, 2, 3)]
    for run in runs:
        assert smoothcert("certify", tmp_path / "sizes" / run.name, *few, "--out", run)[0] == 0
    code, out, _ = smoothcert("analyze", *runs, "--json")
    assert code == 0
    assert [row["evaluations_per_vote"] for row in json.loads(out)] == [1, 2, 3]
    assert "4" in refused(
        smoothcert("ensemble", *members, "--prefixes", "--consensus", 4, "--out", tmp_path / "none")
    )
    assert not (tmp_path / "none").exists()


def test_claims_per_input_are_no_certificates_and_no_command_takes_them_for_any(
    smoothcert, refused, members, tmp_path
):
    out = tmp_path / "claims"
    options = ("--per-input", "--dataset", "digits", "--first", 4, "--n", 100, "--seed", 1, "--out", out)
    code, text, _ = smoothcert("ensemble", *members[:2], *options)
    assert code == 0
    assert text.lstrip().startswith("NO CERTIFICATE")
    (file,) = out.iterdir()
    assert file.name == "per-input.NO-CERTIFICATE.json"
    figures = json.loads(file.read_text())
    assert (figures["certificate"], len(figures["claims"])) == (False, 4)
    assert "weights" in figures["claims"][0]
    for command in (
        ("analyze", file),
        ("analyze", out),
        ("export", out, "--format", "tsv"),
        ("certify", out, "--out", tmp_path / "run"),
    ):
        refused(smoothcert(*command))
    assert "is there already" in refused(smoothcert("ensemble", *members[:2], *options))


@pytest.mark.parametrize(
    "options, words",
    [
        (("--per-input", "--fit", "esbrs"), "--fit makes an ensemble: leave out --per-input"),
        (("--per-input", "--adaptive"), "--adaptive makes an ensemble"),
        (("--first", 3), "--first is about claims without certificates: add --per-input"),
        (("--by-label",), "--by-label is about claims without certificates"),
        (("--per-input", "--n", 0), "n must be an integer number of votes"),
        (("--per-input", "--alpha", 2), "alpha is an error probability"),
    ],
)
def test_options_of_claims_and_of_ensembles_are_not_mixed(
    options, words, smoothcert, refused, members, tmp_path
):
    out = tmp_path / "out"
    assert words in refused(smoothcert("ensemble", *members[:2], *options, "--out", out))
    assert not out.exists()
