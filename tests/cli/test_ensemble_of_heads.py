"""The heads of one trained network as an ensemble, on the command line and in its folder."""

import json

import pytest
import torch

import smoothcert as sc
from small_networks import random_network, small_card
from smoothcert.ensembles import (
    ConsensusEnsemble,
    TrunkedEnsemble,
    VotingEnsemble,
    member_outputs,
    order_by_noisy_accuracy,
)
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import load_model, save_checkpoint, save_ensemble
from smoothcert.seeding import generator_for

CHOSEN = ("--dataset", "digits", "--images", "60", "--draws", "2", "--seed", "5")


def save_network(folder, heads=4):
    card = small_card(training={"seed": 1}, heads=heads, split="stage3")
    model = random_network(card, seed=1).train()
    with torch.no_grad():
        model(torch.rand(64, 1, 8, 8, generator=torch.Generator().manual_seed(1)))
    save_checkpoint(model.eval(), card, folder)
    return folder


@pytest.fixture
def network(tmp_path):
    return save_network(tmp_path / "network")


def test_consensus_over_heads_makes_a_folder_that_certifies(network, smoothcert, tmp_path):
    code, out, err = smoothcert("ensemble", network, "--consensus", "2", "--out", tmp_path / "e")
    assert code == 0, err
    assert "4 heads of one network, rule soft, the others asked where the first 2 disagree" in out
    model, card = load_model(tmp_path / "e")
    assert isinstance(model, TrunkedEnsemble)
    assert isinstance(model.ensemble, ConsensusEnsemble)
    assert (card.heads, card.early_exit, len(card.members)) == ((0, 1, 2, 3), sc.Consensus(2), 1)
    image = sc.load_dataset("digits").image(0)
    found = sc.load_classifier(tmp_path / "e").certify(image, sc.FixedSample(n=500), seed=1, workers=1)
    assert found.samples == 600
    assert 2 * 600 < found.evaluations < 4 * 600
    assert (
        smoothcert("ensemble", network, "--consensus", "2", "--out", tmp_path / "e")[0] == 0
    )  # the same again
    run = (
        "certify",
        tmp_path / "e",
        "--dataset",
        "digits",
        "--first",
        "2",
        "--n",
        "200",
        "--out",
        tmp_path / "run",
    )
    assert smoothcert(*run)[0] == 0


@pytest.mark.parametrize("rule", ["soft", "softmax", "hard", "max-margin"])
def test_every_rule_over_heads(rule, network, smoothcert, tmp_path):
    code, _, err = smoothcert("ensemble", network, "--rule", rule, "--out", tmp_path / "e")
    assert code == 0, err
    model, _ = load_model(tmp_path / "e")
    whole, _ = load_model(network)
    heads = VotingEnsemble([whole.head(number) for number in range(4)], rule).eval()
    batch = torch.rand(30, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    assert torch.equal(model(batch), heads(batch))
    if rule == "soft":
        torch.testing.assert_close(model(batch), whole(batch))


def test_heads_are_ordered_on_the_holdout_and_the_order_is_kept(network, smoothcert, tmp_path):
    options = ("--consensus", "2", "--weights", "1,2,3,4", "--order-by-holdout", *CHOSEN)
    code, _, err = smoothcert("ensemble", network, *options, "--out", tmp_path / "e")
    assert code == 0, err
    whole, _ = load_model(network)
    answers = member_outputs(
        [whole.head(number) for number in range(4)],
        sc.load_dataset("digits", "holdout"),
        sc.Gaussian(0.25),
        draws=2,
        generator=generator_for(5, 0, "holdout"),
        images=60,
    )
    order = order_by_noisy_accuracy(*answers)
    model, card = load_model(tmp_path / "e")
    assert order != (0, 1, 2, 3)
    assert card.heads == order
    assert card.weights == tuple(number + 1 for number in order)
    assert card.fitted[0].purpose == "order"
    for place, number in enumerate(order):
        for one, other in zip(
            model.members[place].parameters(), whole.heads[number].parameters(), strict=True
        ):
            assert torch.equal(one, other)


def test_weights_of_heads_are_fitted(network, smoothcert, tmp_path):
    code, _, err = smoothcert("ensemble", network, "--fit", "sween", *CHOSEN, "--out", tmp_path / "e")
    assert code == 0, err
    assert len(load_model(tmp_path / "e")[1].weights) == 4


def test_a_network_with_heads_beside_others_is_one_member(network, smoothcert, tmp_path):
    other = save_network(tmp_path / "other", heads=2)
    code, _, err = smoothcert("ensemble", network, other, "--out", tmp_path / "e")
    assert code == 0, err
    model, card = load_model(tmp_path / "e")
    assert card.heads is None
    assert (len(card.members), model.evaluations_per_vote) == (2, 6)


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (["--consensus", "5"], "k must be an integer from 1 to the 4 members"),
        (["--weights", "1,2"], "one number per member, got 2 for 4"),
        (["--weights", "1,2", "--order-by-holdout", *CHOSEN], "one number per member, got 2 for 4"),
    ],
)
def test_mistakes_are_one_sentence(arguments, sentence, network, smoothcert, refused, tmp_path):
    assert sentence in refused(smoothcert("ensemble", network, *arguments, "--out", tmp_path / "e"))
    assert not (tmp_path / "e").exists()


def test_changed_folders_are_noticed(network, tmp_path):
    save_ensemble([network], tmp_path / "e", early_exit=sc.Consensus(2), heads=[3, 1])
    assert load_model(tmp_path / "e")[0].evaluations_per_vote == 2
    content = json.loads((tmp_path / "e" / "ensemble.json").read_text())
    for heads, words in (([1, 3], "digest does not match"), ([1, 9], "from 0 to 3"), (None, "k must be")):
        (tmp_path / "e" / "ensemble.json").write_text(json.dumps({**content, "heads": heads}))
        with pytest.raises(CheckpointError, match=words):
            load_model(tmp_path / "e")
    with pytest.raises(InvalidArgumentError, match="only a single multi-head network has them"):
        save_ensemble([network, network], tmp_path / "two", heads=[0, 1])


@pytest.mark.slow
def test_the_variance_of_heads_is_studied(network, smoothcert, tmp_path):
    for folder in (network, tmp_path / "e"):
        if folder != network:
            save_ensemble([network], folder, early_exit=sc.Consensus(2))
        code, out, err = smoothcert(
            "analyze", folder, "--variance", "--images", "4", "--noises", "20", "--seed", "1", "--json"
        )
        assert code == 0, err
        assert json.loads(out)["members"] == 4
