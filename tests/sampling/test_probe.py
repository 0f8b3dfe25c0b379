"""Models that are no fixed function of one image are refused; honest ones are not."""

import pytest
import torch

from smoothcert.engines import CallableEngine, build_engine, engine_rule
from smoothcert.errors import InvalidImageError, ModelOutputError, UnsoundModelError
from smoothcert.noise import Gaussian
from smoothcert.sampling import Sampler, check_fixed_function

WEIGHTS = torch.randn(6, 3, generator=torch.Generator().manual_seed(0))


def honest(batch):
    return batch @ WEIGHTS


def sampler(engine, on_nan="raise"):
    return Sampler(engine, Gaussian(0.25), seed=1, batch_size=64, on_nan=on_nan)


def probe(model, shape=(6,), on_nan="raise", rows=64):
    image = torch.full(shape, 0.5)
    engine = build_engine(engine_rule("auto", model, image), model, 3, image)
    check_fixed_function(sampler(engine, on_nan), image, rows=rows)


def statistics(scale):
    return lambda batch: scale * ((batch - batch.mean(0)) / batch.std(0)) @ WEIGHTS


def reused_buffer():
    kept = torch.zeros(1_000, 3)

    def model(batch):
        kept[: len(batch)] = statistics(1.0)(batch)
        return kept[: len(batch)]

    return model


def first_row(batch):
    return honest(batch[:1]).expand(len(batch), 3)


def by_position(batch):
    return honest(batch) + (torch.arange(len(batch)) % 16).unsqueeze(1) * torch.tensor([1.0, 0.0, 0.0])


DEPENDENT = {
    "first row": first_row,
    "position": by_position,
    "statistics": statistics(1.0),
    "small statistics": statistics(1e-4),
    "softmax of statistics": lambda batch: torch.softmax(statistics(1.0)(batch) / 50, dim=1),
    "reused buffer": reused_buffer(),
    "last row": lambda batch: honest(batch) + honest(batch[-1:]),
}


def test_a_dark_image_is_probed_in_bright_company():
    """Scales whole batches by their largest value, which only bright images reach."""

    def model(batch):
        return honest(batch / 255 if batch.max() > 1.5 else batch)

    image = torch.full((6,), 0.1)
    with pytest.raises(UnsoundModelError, match="other images of the batch"):
        check_fixed_function(sampler(CallableEngine(model, 3, image)), image, rows=64)


@pytest.mark.parametrize("name", DEPENDENT)
def test_rows_that_see_other_rows_are_refused(name):
    with pytest.raises(UnsoundModelError, match="other images of the batch"):
        probe(DEPENDENT[name])


@pytest.mark.parametrize(
    "model",
    [
        honest,
        lambda batch: 1e-6 * honest(batch),
        lambda batch: 1e6 * honest(batch),
        lambda batch: torch.zeros(len(batch), 3),
        lambda batch: honest(batch).argmax(1, keepdim=True) == torch.arange(3),
        lambda batch: honest(batch).double(),
        lambda batch: honest(batch).numpy(),
    ],
)
def test_honest_models_pass(model):
    assert probe(model) is None  # no refusal


def test_randomness_is_refused():
    with pytest.raises(UnsoundModelError, match="two different answers"):
        probe(lambda batch: torch.nn.functional.dropout(honest(batch), 0.5, training=True))


def test_writing_into_the_batch_is_refused():
    """Members of an ensemble share a batch, so a member that clamps it would change the others' answers."""
    with pytest.raises(UnsoundModelError, match="writes into the batch"):
        probe(lambda batch: honest(batch.clamp_(0, 1)))


def test_failures_are_blamed_on_whom_they_come_from():
    def broken(batch):
        raise KeyError("weights")

    with pytest.raises(ModelOutputError, match=r"KeyError on a float32 torch tensor of shape \(48, 6\).*fix"):
        probe(broken)
    with pytest.raises(InvalidImageError, match="shape the model takes"):
        probe(honest, shape=(5,))
    with pytest.raises(ModelOutputError, match="complex"):
        probe(lambda batch: honest(batch).to(torch.complex64))
