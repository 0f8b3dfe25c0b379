"""The ensembles of the first k members are those that would be made one by one; all are written, or none."""

import pytest

import smoothcert as sc
from small_networks import save_network
from smoothcert.errors import CheckpointError, InvalidArgumentError
from smoothcert.folders import (
    load_model,
    make_ensemble,
    make_prefixes,
    prefix_name,
    read_any_card,
)

COUNT = 3


@pytest.fixture
def members(tmp_path):
    return [save_network(tmp_path / f"member-{seed}", seed) for seed in range(COUNT)]


@pytest.fixture(scope="module")
def chosen():
    return {"dataset": sc.load_dataset("digits", "holdout"), "images": 30, "draws": 2, "seed": 5}


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rule": "hard", "weights": [3.0, 1.0, 2.0]},
        {"early_exit": sc.Adaptive(threshold=0.9, alpha=0.2)},
        {"fit": "sween"},
        {"fit": "soft"},
    ],
    ids=["plain", "weighted", "adaptive", "sween", "soft"],
)
def test_every_prefix_is_the_ensemble_made_by_itself(members, chosen, tmp_path, options):
    how = {**options, **(chosen if "fit" in options else {})}
    made = make_prefixes(members, tmp_path / "sizes", **how)
    assert [folder.name for folder in made] == ["k-1", "k-2", "k-3"]
    for k, (folder, card) in enumerate(made.items(), start=1):
        own = {**how, **({"weights": how["weights"][:k]} if "weights" in how else {})}
        alone = make_ensemble(members[:k], tmp_path / f"alone-{k}", **own)
        assert card.digest == alone.digest
        assert (card.rule, card.weights, card.fitted) == (alone.rule, alone.weights, alone.fitted)
        assert load_model(folder)[1] == card


def test_the_first_is_its_member_and_the_last_the_whole(members, tmp_path):
    made = make_prefixes(members, tmp_path / "sizes")
    image, procedure = sc.load_dataset("digits").image(0), sc.FixedSample(n=100)
    first, *_, last = (
        sc.load_classifier(folder).certify(image, procedure, seed=1, workers=1) for folder in made
    )
    alone = sc.load_classifier(members[0]).certify(image, procedure, seed=1, workers=1)
    assert (first.counts, first.evaluations) == (alone.counts, alone.evaluations)
    assert last.evaluations == COUNT * first.evaluations


def test_one_order_is_chosen_for_all(members, chosen, tmp_path):
    whole = make_ensemble(members, tmp_path / "whole", order_by_holdout=True, fit="sween", **chosen)
    made = list(
        make_prefixes(members, tmp_path / "sizes", order_by_holdout=True, fit="sween", **chosen).values()
    )
    assert made[-1].digest == whole.digest
    names = [entry.digest for entry in whole.members]
    for k, card in enumerate(made, start=1):
        assert [entry.digest for entry in card.members] == names[:k]
        assert [use.purpose for use in card.fitted] == ["sween", "order"]
        assert card.fitted[1] == whole.fitted[1]


def test_heads_of_one_network_join_one_by_one(chosen, tmp_path):
    network = save_network(tmp_path / "network", 0, heads=3)
    made = list(make_prefixes([network], tmp_path / "sizes").values())
    assert [card.heads for card in made] == [(0,), (0, 1), (0, 1, 2)]
    assert made[-1].digest == make_ensemble([network], tmp_path / "whole").digest
    ordered = make_prefixes(
        [network], tmp_path / "fitted", fit="sween", order_by_holdout=True, **chosen
    ).values()
    heads = [card.heads for card in ordered]
    assert [heads[-1][:k] for k in (1, 2, 3)] == heads
    assert [len(card.weights) for card in ordered] == [1, 2, 3]


def test_nobody_is_spared_by_a_consensus_of_all(members, tmp_path):
    made = make_prefixes(members, tmp_path / "sizes", early_exit=sc.Consensus(2)).values()
    assert [card.early_exit for card in made] == [None, None, sc.Consensus(2)]
    whole = make_prefixes(members[:2], tmp_path / "two", early_exit=sc.Consensus(2)).values()
    assert [card.early_exit for card in whole] == [
        None,
        sc.Consensus(2),
    ]  # as the command for the whole would write it


def test_names_sort_by_size():
    assert [prefix_name(k, 12) for k in (1, 9, 12)] == ["k-01", "k-09", "k-12"]


def test_a_second_time_changes_nothing(members, tmp_path):
    first = make_prefixes(members, tmp_path / "sizes")
    assert make_prefixes(members, tmp_path / "sizes") == first


def test_what_cannot_be_written_whole_leaves_nothing(members, chosen, tmp_path):
    out = tmp_path / "sizes"
    for error, options, sentence in (
        (InvalidArgumentError, {"weights": [0.0, 1.0, 1.0]}, "ensemble of the first 1 of 3 members: weights"),
        (InvalidArgumentError, {"weights": [1.0, 1.0]}, "got 2 for 3 members"),
        (
            InvalidArgumentError,
            {"early_exit": sc.Consensus(4)},
            "^k must be an integer from 1 to the 3 members",
        ),
        (InvalidArgumentError, {"rule": "best"}, "best"),
        (InvalidArgumentError, {"fit": "sween"}, "needs hold-out images"),
    ):
        with pytest.raises((error, LookupError), match=sentence):
            make_prefixes(members, out, **options)
        assert not out.exists()
    with pytest.raises(InvalidArgumentError, match="at least one folder"):
        make_prefixes([], out)
    make_ensemble(members[1:], out / "k-2")
    before = read_any_card(out / "k-2")
    with pytest.raises(CheckpointError, match="k-2 already holds another model"):
        make_prefixes(members, out)
    assert [folder.name for folder in out.iterdir()] == ["k-2"]
    assert read_any_card(out / "k-2") == before
    with pytest.raises(CheckpointError, match="k-2 already holds an ensemble"):
        make_prefixes(members, out, fit="sween", **{**chosen, "seed": None})
