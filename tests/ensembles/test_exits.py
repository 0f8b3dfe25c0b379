"""Early exits by kind and settings: what cards, manifests and the command line know of them."""

from dataclasses import dataclass

import pytest

import smoothcert as sc
from smoothcert.ensembles import EARLY_EXITS, VOTING_RULES, EarlyExit, check_early_exit, early_exit_from
from smoothcert.errors import InvalidArgumentError, UnknownNameError


def test_the_kinds_are_the_files():
    assert list(EARLY_EXITS) == ["adaptive", "consensus"]
    assert (EARLY_EXITS["consensus"], EARLY_EXITS["adaptive"]) == (sc.Consensus, sc.Adaptive)
    assert list(VOTING_RULES) == ["hard", "max-margin", "soft", "softmax"]


@pytest.mark.parametrize(
    "early_exit, described",
    [
        (sc.Consensus(3), {"kind": "consensus", "k": 3}),
        (sc.Adaptive(0.9), {"kind": "adaptive", "threshold": 0.9, "alpha": 0.05}),
    ],
)
def test_what_is_described_is_made_again(early_exit, described):
    assert early_exit.describe() == described
    assert list(early_exit.describe()) == list(described)  # digests read the settings in this order
    assert early_exit_from(described) == early_exit


@pytest.mark.parametrize(
    "about, message",
    [
        ({"kind": "consensus", "k": True}, "k must be an integer"),
        ({"kind": "consensus", "k": "2"}, "k must be an integer"),
        ({"kind": "consensus", "k": {}}, "k must be an integer"),
        ({"kind": "consensus", "k": 2, "threshold": 0.5}, "has the settings k, got"),
        (
            {"kind": "adaptive", "threshold": float("nan"), "alpha": 0.1},
            "threshold must lie strictly between 0 and 1",
        ),
        ({"kind": "adaptive", "threshold": 0.5, "alpha": 1}, "alpha must lie strictly between 0 and 1"),
        ({"kind": "adaptive", "threshold": 0.5}, "has the settings threshold, alpha, got"),
    ],
)
def test_other_settings_are_refused(about, message):
    with pytest.raises(InvalidArgumentError, match=message):
        early_exit_from(about)


def test_other_kinds_are_refused():
    for about in ({}, {"kind": 2}, {"kind": "none"}):
        with pytest.raises(UnknownNameError, match=r"unknown early exit .*; known: adaptive, consensus"):
            early_exit_from(about)


def test_options_are_the_fields_by_the_names_that_users_type():
    (first,) = sc.Consensus.options()
    assert (first.name, first.field, first.kind, first.default, first.required) == (
        "consensus",
        "k",
        int,
        2,
        False,
    )
    assert [option.name for option in sc.Adaptive.options()] == ["adaptive-threshold", "adaptive-alpha"]
    assert all(option.text for kind in EARLY_EXITS for option in EARLY_EXITS[kind].options())
    assert sc.Consensus.from_options({"consensus": 3}) == sc.Consensus(3)
    assert sc.Adaptive.from_options({"adaptive-threshold": None, "adaptive-alpha": 0.1}) == sc.Adaptive(
        alpha=0.1
    )
    with pytest.raises(InvalidArgumentError, match="early exit 'consensus' takes no adaptive-alpha"):
        sc.Consensus.from_options({"adaptive-alpha": 0.1})


@dataclass(frozen=True)
class Unknown(EarlyExit):
    """In no registry."""

    def over(self, ensemble):
        raise NotImplementedError


def test_what_no_card_could_give_back_is_not_stored(tmp_path):
    with pytest.raises(
        InvalidArgumentError, match=r"Unknown\(\) is not in the registry.*smoothcert.ensembles.exits"
    ):
        check_early_exit(Unknown())
    with pytest.raises(InvalidArgumentError, match="early_exit must be an early exit such as"):
        sc.save_ensemble(["nowhere"], tmp_path / "e", early_exit={"kind": "consensus", "k": 2})


def test_only_exits_with_members_left_to_spare_stay_in_prefixes():
    assert [sc.Consensus(2).spares(members) for members in (1, 2, 3)] == [False, False, True]
    assert sc.Adaptive().spares(1)


def test_rules_say_what_they_are_made_for():
    kinds = {name: VOTING_RULES[name] for name in VOTING_RULES}
    assert [name for name, rule in kinds.items() if rule.refuses_weights] == ["max-margin"]
    assert [name for name, rule in kinds.items() if rule.takes_negative_weights] == ["soft"]
    assert [name for name, rule in kinds.items() if not rule.has_gradient] == ["hard"]
    assert (sc.Adaptive.rule, sc.Consensus.rule) == ("softmax", None)
