"""Noise on the command line: a law by name and by its own options, or the model's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smoothcert import certificates, folders, noise
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.group import MemberGroup
from smoothcert.reading import kind_of

_USUAL = "gaussian"  # where neither a card nor an option says a law

NOISE = MemberGroup(
    noise.NOISE_LAWS,
    "noise",
    "Noise",
    otherwise="the model's own by default",
    more=[
        CommandOption(
            "sound",
            bool,
            "Float-safe noise in place of Gaussian: on the 1/255 grid, for 8-bit images (grid-gaussian).",
        )
    ],
)
TRAINED_NOISE = MemberGroup(noise.NOISE_LAWS, "noise", "Noise of the training", default=_USUAL)


def training_noise(given: Mapping[str, Any]) -> noise.NoiseLaw:
    """Make a law from what the options of `TRAINED_NOISE` say; ask for what it needs."""
    told = dict(given)
    return noise.NOISE_LAWS[told.pop("noise", _USUAL)].from_options(told)


def choose_classifier(
    model: Path, given: Mapping[str, Any], facts: Mapping[str, Any] | None = None
) -> certificates.SmoothedClassifier:
    """Load a model, under its own noise or under what the options say.

    Args:
        model: its folder, file or factory.
        given: what the options of `NOISE` say.
        facts: what is said about a model that is no folder, as arguments of `load_classifier`.
    """
    facts = facts or {}
    law = choose_noise(own_noise(model, facts), given) if given else None
    return certificates.load_classifier(model, noise=law, **facts)


def choose_noise(trained: noise.NoiseLaw | None, given: Mapping[str, Any]) -> noise.NoiseLaw | None:
    """Return the law that the options say; None, the model's own, where they say nothing.

    What was not told is taken from the training, where it has such a thing.

    Args:
        trained: the law of the training, where it is known.
        given: what the options of `NOISE` say.
    """
    if not given:
        return None
    told = dict(given)
    sound = told.pop("sound", False)
    kind = noise.NOISE_LAWS[told.pop("noise", _USUAL if trained is None else trained.law_name)]
    takes = {option.name for option in kind.options()}
    before = {} if trained is None else trained.option_values()
    known = {option: value for option, value in before.items() if option in takes}
    law = kind.from_options({**known, **told})
    return law.float_safe() if sound else law


def own_noise(model: Path, facts: Mapping[str, Any]) -> noise.NoiseLaw | None:
    """Return the law that the card of a model, or of its weights, says it was trained under; None without a card."""
    place = facts.get("weights") if folders.is_own(model) else model
    if place is None or kind_of(Path(place)) != "folder":
        return None
    return noise.noise_from(dict(folders.read_any_card(place).noise))
