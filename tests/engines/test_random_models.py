"""Whatever module is handed in, every engine casts the votes that the module itself casts."""

import random
import warnings

import numpy as np
import pytest
import torch

from engines.random_models import CLASSES, SHAPE, random_model
from marks import needs_compiler
from smoothcert.engines import build_engine
from smoothcert.noise import Gaussian
from smoothcert.sampling import Chunk, Sampler

NOISE = Gaussian(0.25)
IMAGE = torch.full(SHAPE, 0.5)
MODELS, PLAIN_EVERY, GROUPS = 320, 16, 20
CHUNKS = [Chunk(IMAGE, 0, "estimate", number, 64) for number in range(2)]
CLOSE = 1e-4  # logits nearer than this may fall either way


def model_number(number):
    """The same module every time; one in sixteen is plain, so that it is exported and folded."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(number)
        return random_model(random.Random(number), plain=number % PLAIN_EVERY == 0)


def differing_votes(votes, model):
    """Votes, (row,), that are not the module's own, close calls left out."""
    noisy = Sampler(
        build_engine("eager", model, CLASSES, IMAGE), NOISE, seed=3, batch_size=128, on_nan="raise"
    )
    with torch.inference_mode():
        own = torch.cat([model(noisy.noisy_images([chunk]).clone()) for chunk in CHUNKS]).double().numpy()
    gaps = own.max(axis=1) - own[np.arange(len(own)), votes]
    return int((gaps > CLOSE).sum())


def cast(engine, model):
    built = build_engine(engine, model, CLASSES, IMAGE, NOISE)
    sampler = Sampler(built, NOISE, seed=3, batch_size=128, on_nan="raise")
    return np.concatenate([part.classes[0] for part in sampler.draw(CHUNKS)]), built


@pytest.mark.slow
@pytest.mark.parametrize("group", range(GROUPS))
def test_every_engine_casts_the_models_own_votes(group):
    for number in range(group, MODELS, GROUPS):
        model = model_number(number)
        for engine in ("torch", "onnx", "eager"):
            votes, built = cast(engine, model)
            assert differing_votes(votes, model) == 0, (number, engine)
            if number % PLAIN_EVERY == 0:  # all of torch's own modules
                assert (built.engine_name, built.as_is) == (engine, engine == "eager"), (number, engine)


@pytest.mark.slow
@needs_compiler
def test_the_compiled_engine_too():
    for number in (0, 1, 2, 3):
        model = model_number(number)
        assert differing_votes(cast("compiled", model)[0], model) == 0, number


@pytest.mark.slow
def test_a_traced_copy_by_itself_would_cast_others():
    """The unsound twin: fold whatever can be traced, and compare nothing."""
    wrong = traced = 0
    for number in range(80):
        model = model_number(number)
        try:
            with warnings.catch_warnings(), torch.inference_mode():
                warnings.simplefilter("ignore")
                from torch.fx.experimental.optimization import fuse

                copy = fuse(model)
                sampler = Sampler(
                    build_engine("eager", copy, CLASSES, IMAGE), NOISE, seed=3, batch_size=128, on_nan="raise"
                )
                votes = np.concatenate([part.classes[0] for part in sampler.draw(CHUNKS)])
        except Exception:  # cannot be traced
            continue
        traced += 1
        wrong += differing_votes(votes, model) > 0
    assert traced > 20
    assert wrong > traced // 4
