"""Which way to quantise is taken: by the hold-out, with layers in float32 only where they are worth it."""

from types import SimpleNamespace

import pytest

from smoothcert.folders import Candidate
from smoothcert.workflows.quantizing import choices

NEITHER, LAST, FIRST, BOTH = (), ("last",), ("first",), ("first", "last")
ALIKE = {NEITHER: 0.99, LAST: 0.99, FIRST: 0.99, BOTH: 0.99}


@pytest.fixture
def chosen(monkeypatch):
    """Return what is chosen where ways with these layers in float32 agree with the original that often."""

    def made(self, bias, ranges, layers=()):
        figures = self._figures
        candidate = Candidate(
            bias=bias,
            ranges=ranges,
            float_layers=layers,
            difference=1.0 if (bias, ranges) == ("corrected", "most") else 2.0,
            accuracy=0.9,
            agreement=figures.agreement[layers],
        )
        self.candidates.append(candidate)
        return candidate, b""

    def choose(agreement, *, answers=2_000, layers=3):
        monkeypatch.setattr(choices, "measured", lambda graph, images: {})
        monkeypatch.setattr(choices.Choices, "_made", made)
        graph = SimpleNamespace(graph=SimpleNamespace(node=[SimpleNamespace(op_type="Conv")] * layers))
        figures = SimpleNamespace(
            answers=answers, agreement={**ALIKE, **agreement}, noisy_images=lambda purpose: None
        )
        return choices.Choices(graph, figures, None, seven_bits=False, on_measured=lambda done: None).best()[
            0
        ]

    return choose


def test_the_nearest_logits_are_taken(chosen):
    assert (chosen({}).bias, chosen({}).ranges, chosen({}).float_layers) == ("corrected", "most", NEITHER)


@pytest.mark.parametrize(
    "agreement, layers",
    [
        ({LAST: 0.9915}, NEITHER),  # three answers in 2,000
        ({LAST: 0.9921}, LAST),
        ({LAST: 0.9921, FIRST: 0.993}, LAST),  # not by enough better than the last one alone
        ({LAST: 0.9921, FIRST: 0.995}, FIRST),
        ({FIRST: 0.995, BOTH: 0.999}, BOTH),
    ],
)
def test_layers_stay_in_float32_where_they_bring_answers_back(chosen, agreement, layers):
    assert chosen(agreement).float_layers == layers


def test_one_answer_of_few_is_no_reason(chosen):
    assert chosen({FIRST: 0.99 + 1 / 120}, answers=120).float_layers == NEITHER
    assert (
        chosen({NEITHER: 0.9, LAST: 0.9, FIRST: 0.9 + 4.1 / 120, BOTH: 0.9}, answers=120).float_layers
        == FIRST
    )


def test_some_layer_is_left_for_int8(chosen):
    everything = {LAST: 1.0, FIRST: 1.0, BOTH: 1.0, NEITHER: 0.5}
    assert chosen(everything, layers=1).float_layers == NEITHER
    assert chosen({**everything, BOTH: 1.0, LAST: 0.9, FIRST: 0.9}, layers=2).float_layers == LAST
