"""Noise on the command line: a law by name and by its own options, or the model's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from smoothcert import certificates, noise
from smoothcert.cli.members.command_option import CommandOption
from smoothcert.cli.members.group import MemberGroup

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
_TRAINED_WITH = "gaussian"
TRAINED_NOISE = MemberGroup(noise.NOISE_LAWS, "noise", "Noise of the training", default=_TRAINED_WITH)


def choose_noise(given: Mapping[str, Any]) -> noise.NoiseLaw:
    """Make a law from what the options of `TRAINED_NOISE` say; ask for what it needs."""
    told = dict(given)
    return noise.NOISE_LAWS[told.pop("noise", _TRAINED_WITH)].from_options(told)


def choose_classifier(model: Path, given: Mapping[str, Any]) -> certificates.SmoothedClassifier:
    """Load a model folder, under its own noise or under what the options say.

    Args:
        model: its folder.
        given: what the options of `NOISE` say.
    """
    classifier = certificates.load_classifier(model)
    if not given:
        return classifier
    told = dict(given)
    sound = told.pop("sound", False)
    law = _choose_noise(classifier.noise, told.pop("noise", classifier.noise.law_name), told)
    return certificates.load_classifier(model, noise=law.float_safe() if sound else law)


def _choose_noise(trained: noise.NoiseLaw, name: str, told: dict[str, Any]) -> noise.NoiseLaw:
    """Build a law from what was told; what was not is taken from the training, where it has such a thing."""
    kind = noise.NOISE_LAWS[name]
    takes = {option.name for option in kind.options()}
    known = {option: value for option, value in trained.option_values().items() if option in takes}
    return kind.from_options({**known, **told})
