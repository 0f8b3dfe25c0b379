"""An answer that is no number stays none under every engine: it is an error, not a vote."""

import pytest
import torch
from torch import nn

import smoothcert as sc
from marks import needs_compiler
from smoothcert.engines import EngineUnavailableError, build_engine
from smoothcert.engines.agreement import refuse_other_answers
from smoothcert.engines.nan_keeping_pool import NanKeepingMaxPool, with_nan_keeping_pools
from smoothcert.errors import ModelOutputError

SHAPE = (1, 12, 12)


class NoRoot(nn.Module):
    """NaN inside wherever the first pixel exceeds 2.2, which only strong noise reaches; one class is always ahead."""

    def __init__(self, pools):
        super().__init__()
        torch.manual_seed(0)
        self.conv, self.pool = nn.Conv2d(1, 8, 3, padding=1), nn.MaxPool2d(2) if pools else nn.Identity()
        self.linear = nn.Linear(8 * (36 if pools else 144), 10)
        self.linear.bias.data[0] = 20.0

    def forward(self, batch):
        doubt = 0 * torch.sqrt(2.2 - batch[:, :, :1, :1])
        return self.linear(self.pool(torch.relu(self.conv(batch) + doubt)).flatten(1))


@pytest.fixture(params=[False, True], ids=["activation", "pooling"])
def model(request):
    with torch.random.fork_rng(devices=[]):
        return NoRoot(request.param).eval().requires_grad_(False)


ENGINES = ["torch", "onnx", pytest.param("compiled", marks=[pytest.mark.slow, needs_compiler])]


@pytest.mark.parametrize("engine", ENGINES)
def test_noise_that_reaches_no_number_raises(model, engine):
    classifier = sc.SmoothedClassifier(model, sc.Gaussian(1.0), 10)
    with pytest.raises(ModelOutputError):
        classifier.certify(
            torch.full(SHAPE, 0.5), sc.FixedSample(n0=64, n=2_048), seed=3, engine=engine, workers=1
        )


def test_an_engine_that_hides_no_numbers_is_refused():
    with pytest.raises(EngineUnavailableError, match="finite answer where the model's own is not"):
        refuse_other_answers(lambda batch: batch.nan_to_num(0.0), lambda batch: batch, torch.zeros(6))
    refuse_other_answers(lambda batch: batch + 0, lambda batch: batch, torch.zeros(6))


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("kernel, stride, padding", [(2, None, 0), (3, 2, 1), (3, 1, 0)])
def test_honest_pooling_is_pooling_bit_for_bit_and_keeps_no_numbers(kernel, stride, padding, ceil):
    pool = nn.MaxPool2d(kernel, stride, padding, ceil_mode=ceil)
    batch = torch.randn(4, 3, 9, 9, generator=torch.Generator().manual_seed(1))
    assert torch.equal(NanKeepingMaxPool(pool)(batch), pool(batch))
    batch[1, 2, 4, 4] = torch.nan
    assert torch.equal(NanKeepingMaxPool(pool)(batch).isnan(), pool(batch).isnan())


def test_pools_are_replaced_in_a_copy_that_shares_weights():
    model = sc.create_model("lenet", num_classes=10).eval()
    names = [name for name, part in model.named_modules() if isinstance(part, nn.MaxPool2d)]
    copied = with_nan_keeping_pools(model)
    assert all(isinstance(copied.get_submodule(name), NanKeepingMaxPool) for name in names)
    assert all(isinstance(model.get_submodule(name), nn.MaxPool2d) for name in names)
    own = [weight.data_ptr() for weight in model.parameters()]
    assert [weight.data_ptr() for weight in copied.parameters()] == own
    assert not copied.training
    plain = nn.Sequential(nn.Linear(2, 2))
    assert with_nan_keeping_pools(plain) is plain


def test_networks_with_pools_still_run_in_the_fast_engine():
    for name, shape in (("lenet", (1, 28, 28)), ("vgg16", (3, 32, 32))):
        model = sc.create_model(name, num_classes=10, input_shape=shape).eval()
        assert build_engine("onnx", model, 10, torch.rand(shape)).engine_name == "onnx"
