"""Adaptive prediction against a slow reference that follows the paper's algorithm one image at a time."""

import numpy as np
import pytest
import torch
from scipy.special import softmax
from scipy.stats import norm
from torch import nn

import smoothcert as sc
from smoothcert.engines import build_engine
from smoothcert.ensembles import AdaptiveEnsemble, Panel, VotingEnsemble
from smoothcert.errors import InvalidArgumentError
from smoothcert.networks import counted, model_digest

CLASSES, PIXELS = 4, 6


def members(count, scale=0.7):
    shared = torch.randn(CLASSES, PIXELS, generator=torch.Generator().manual_seed(99))
    found = []
    for seed in range(count):
        layer = nn.Linear(PIXELS, CLASSES, bias=False).eval().requires_grad_(False)
        own = torch.randn(CLASSES, PIXELS, generator=torch.Generator().manual_seed(seed))
        layer.weight.copy_(shared + scale * own)
        found.append(layer)
    return found


def images(rows):
    return torch.randn(rows, PIXELS, generator=torch.Generator().manual_seed(5))


def reference(logits, weights, threshold, alpha):
    """Probabilities and members asked, from the definition; logits (members, classes)."""
    order = [member for member in np.argsort(-np.array(weights), kind="stable") if weights[member] > 0]
    for i in range(1, len(order) + 1):
        w, p = np.array(weights)[order[:i]], softmax(logits[order[:i]], axis=1)
        mean = w @ p / w.sum()
        top = mean.argmax()
        error = np.sqrt((w**2).sum()) / w.sum() * np.sqrt((w * (p[:, top] - mean[top]) ** 2).sum() / w.sum())
        if i == 1 and mean[top] > threshold:
            break
        if i > 1 and mean[top] > 0.5 + norm.ppf(1 - alpha / 2) * error:
            break
    return mean, set(order[:i])


def with_cost(model, batch):
    return counted(model, batch, lambda part, rows: part(rows))


@pytest.mark.parametrize("rows", [16, 400])
@pytest.mark.parametrize(
    "weights, threshold, alpha",
    [([1, 1, 1, 1, 1], 0.9, 0.05), ([0.1, 0.4, 0.0, 0.3, 0.2], 0.999, 0.05), ([3, 1, 2, 1, 0], 0.9, 0.5)],
)
def test_every_row_is_what_the_definition_says(weights, threshold, alpha, rows):
    ensemble = AdaptiveEnsemble(VotingEnsemble(members(5), "softmax", weights), threshold, alpha).eval()
    batch = images(rows)
    logits, passes = with_cost(ensemble, batch)
    every = ensemble.member_logits(batch)
    asked = ensemble.members_asked(every)
    for row in range(rows):
        expected, who = reference(every[row].double().numpy(), weights, threshold, alpha)
        np.testing.assert_allclose(logits[row].exp().numpy(), expected, rtol=1e-4, atol=1e-6)
        assert int(passes[row]) == len(who)
        assert set(asked[row].nonzero().flatten().tolist()) == who
    if rows == 400:
        assert len(set(passes.tolist())) >= 3  # exits of several kinds were taken
    torch.testing.assert_close(ensemble(batch), logits)
    torch.testing.assert_close(ensemble.combine(every), logits)
    assert ensemble.evaluations_per_vote == sum(weight > 0 for weight in weights)


def test_a_row_does_not_depend_on_its_neighbours():
    ensemble = AdaptiveEnsemble(VotingEnsemble(members(4), "softmax", [4, 3, 2, 1]), 0.9)
    logits, passes = with_cost(ensemble, images(120))
    for part in torch.randperm(120, generator=torch.Generator().manual_seed(1)).split(17):
        some, cost = with_cost(ensemble, images(120)[part])
        assert torch.equal(cost, passes[part])
        torch.testing.assert_close(some, logits[part], rtol=0, atol=1e-5)


def test_a_panel_and_an_engine_count_the_same():
    ensemble = AdaptiveEnsemble(VotingEnsemble(members(4), "softmax", [1, 4, 2, 3]), 0.9).eval()
    _, cost = with_cost(ensemble, images(100))
    assert torch.equal(with_cost(Panel(ensemble), images(100))[1][:, 4], cost)
    engine = build_engine("torch", ensemble, CLASSES, torch.zeros(PIXELS))
    logits, passes = engine.counted_forward(images(100))
    assert passes[:, 0].tolist() == cost.tolist()
    torch.testing.assert_close(logits, ensemble(images(100)), rtol=0, atol=1e-5)


def test_certificates_are_charged_for_the_members_asked():
    ensemble = AdaptiveEnsemble(VotingEnsemble(members(3), "softmax"), 0.9).eval()
    certificate = sc.SmoothedClassifier(ensemble, sc.Gaussian(0.5), CLASSES).certify(
        torch.full((PIXELS,), 0.5), sc.FixedSample(n=256), seed=1, workers=1
    )
    assert certificate.samples < certificate.evaluations < 3 * certificate.samples


def test_digests_tell_the_tests_apart():
    plain = VotingEnsemble(members(3), "softmax")
    models = [
        plain,
        AdaptiveEnsemble(plain),
        AdaptiveEnsemble(plain, 0.9),
        AdaptiveEnsemble(plain, alpha=0.1),
    ]
    assert len({model_digest(model) for model in models}) == 4


@pytest.mark.parametrize("name", ["threshold", "alpha"])
@pytest.mark.parametrize("value", [0, 1.0, -1, float("nan"), True, "0.9"])
def test_wrong_settings_are_refused(name, value):
    with pytest.raises(InvalidArgumentError, match=f"{name} must lie strictly between 0 and 1"):
        AdaptiveEnsemble(VotingEnsemble(members(2), "softmax"), **{name: value})


def test_other_rules_and_models_are_refused():
    with pytest.raises(InvalidArgumentError, match="of rule 'softmax', got 'soft'"):
        AdaptiveEnsemble(VotingEnsemble(members(2)))
    with pytest.raises(InvalidArgumentError, match="got 'Linear'"):
        AdaptiveEnsemble(members(1)[0])
